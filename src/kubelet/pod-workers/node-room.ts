import type { Pod } from '#api/types/core-v1.ts';
import type { AdmittingNode } from '../admission/admission-input.ts';
import { admitPod } from '../admission/admit-pod.ts';
import type { NodeRoomPort, RoomAnswer } from '../ports/node-room.ts';

export interface NodeRoomDeps {
  /** `undefined` until the node knows itself. */
  readonly node: () => AdmittingNode | undefined;
  /** Reads the Node from the API once more. */
  readonly refreshNode: (signal: AbortSignal) => Promise<void>;
  readonly allowedSysctls: readonly string[];
}

/** Who holds room on the node. Kept in memory: after a restart the running pods are let in as they are. */
export class NodeRoom implements NodeRoomPort {
  readonly #deps: NodeRoomDeps;
  readonly #admitted = new Map<string, Pod>();

  constructor(deps: NodeRoomDeps) {
    this.#deps = deps;
  }

  async admit(pod: Pod, alreadyRuns: boolean, signal: AbortSignal): Promise<RoomAnswer> {
    const { uid } = pod.metadata;
    if (this.#admitted.has(uid) || alreadyRuns) {
      this.#admitted.set(uid, pod);
      return { admitted: true };
    }
    const answer = this.#ask(pod);
    if (answer.admitted) return answer;
    if (!answer.nodeMayBeStale) return answer;
    await this.#deps.refreshNode(signal);
    return this.#ask(pod);
  }

  holds(podUid: string): boolean {
    return this.#admitted.has(podUid);
  }

  release(podUid: string): void {
    this.#admitted.delete(podUid);
  }

  #ask(pod: Pod): ReturnType<typeof admitPod> {
    const node = this.#deps.node();
    if (node === undefined)
      return { admitted: false, reason: 'UnexpectedAdmissionError', message: 'Kubelet cannot get node info.', nodeMayBeStale: true };
    const answer = admitPod({ pod, node, otherPods: [...this.#admitted.values()], allowedSysctls: this.#deps.allowedSysctls });
    if (answer.admitted) this.#admitted.set(pod.metadata.uid, pod); // in the same turn: nobody can take the room between question and answer
    return answer;
  }
}
