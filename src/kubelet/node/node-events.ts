import type { Node, ObjectReference } from '#api/types/core-v1.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import { conditionEvents } from './node-conditions.ts';
import { type NodeFacts, type NodeSettings, nodeHealth } from './node-status.ts';

type Events = Pick<EventRecorder, 'emit'>;

/** Tells people what happens to the node. */
export interface NodeTeller {
  /** @param before the node as the API server had it until now */
  changed(facts: NodeFacts, before: Pick<Node, 'status'>): void;
  /** Somebody closed the node for new pods, or opened it. */
  seen(node: Pick<Node, 'spec'>): void;
}

/** What the events of a node are about: their uid is its name, by upstream's habit; `kubectl describe` looks for that. */
export function nodeReference(nodeName: string): ObjectReference {
  return { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
}

export function nodeTeller(nodeName: string, settings: Pick<NodeSettings, 'countsStorage'>, events: Events): NodeTeller {
  const about = nodeReference(nodeName);
  let isClosed = false;
  return {
    changed(facts, { status }) {
      const bootId = status?.nodeInfo?.bootID ?? '';
      if (bootId !== '' && bootId !== facts.host.bootId) {
        const message = `Node ${nodeName} has been rebooted, boot id: ${facts.host.bootId}`;
        events.emit(about, { type: 'Warning', reason: 'Rebooted', message });
      }
      const told = conditionEvents(nodeHealth(facts, settings), status?.conditions ?? [], nodeName);
      for (const event of told) events.emit(about, { type: 'Normal', ...event });
    },
    seen({ spec }) {
      if ((spec?.unschedulable === true) === isClosed) return;
      isClosed = !isClosed;
      const reason = isClosed ? 'NodeNotSchedulable' : 'NodeSchedulable';
      events.emit(about, { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` });
    },
  };
}

const cgroupV1Text =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

/** What a kubelet says first. */
export function tellStart(nodeName: string, cgroupVersion: 'v1' | 'v2', events: Events): void {
  const about = nodeReference(nodeName);
  events.emit(about, { type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
  if (cgroupVersion === 'v1') events.emit(about, { type: 'Warning', reason: 'CgroupV1', message: cgroupV1Text });
}
