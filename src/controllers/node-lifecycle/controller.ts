import { lease as leaseKind } from '#api/kinds/coordination/v1/lease.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Node } from '#api/types/core-v1.ts';
import { isNotFound } from '#client/api-error.ts';
import { referenceTo } from '#client/event-recorder.ts';
import type { Informer, ObjectChange } from '#client/informer-port.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { zoneOf, zonesOf } from './disruption.ts';
import { Heartbeats } from './heartbeats.ts';
import { type Eviction, planTaints, podsToMark, readiness, silentConditions, wantsEviction } from './plan.ts';

const LEASE_NAMESPACE = 'kube-node-lease';

/** Says which nodes are silent, and keeps the taints that follow from the nodes' conditions. */
export async function runNodeLifecycleController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const nodes = await syncedInformer(context, nodeKind, signal);
  const leases = await syncedInformer(context, leaseKind, signal);
  await syncedInformer(context, podKind, signal);
  const lifecycle = new NodeLifecycle(context, nodes);
  nodes.subscribe((change) => lifecycle.onNode(change));
  leases.subscribe(({ type, object }) => {
    const { namespace, name } = object.metadata;
    if (namespace === LEASE_NAMESPACE && type !== 'deleted') lifecycle.onLease(name, object.spec?.renewTime);
  });
  await lifecycle.run(signal);
}

class NodeLifecycle {
  readonly #context: ControllerContext;
  readonly #nodes: Informer<Node>;
  readonly #queue: WorkQueue;
  readonly #heartbeats = new Heartbeats();
  /** By zone: when the next node may get a `NoExecute` taint, monotonic. */
  readonly #nextEvictionMs = new Map<string, number>();

  constructor(context: ControllerContext, nodes: Informer<Node>) {
    this.#context = context;
    this.#nodes = nodes;
    this.#queue = new WorkQueue({ ...context, workers: 8 });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run((name, inner) => this.#look(name, inner), signal);
  }

  onLease(name: string, renewTime: string | undefined): void {
    this.#heartbeats.see(name, 'lease', renewTime, this.#context.clock.monotonic());
  }

  onNode(change: ObjectChange<Node>): void {
    const { object: node } = change;
    const { name } = node.metadata;
    const ready = (node.status?.conditions ?? []).find(({ type }) => type === 'Ready');
    this.#heartbeats.see(name, 'status', ready?.lastHeartbeatTime, this.#context.clock.monotonic());
    if (change.type === 'added') this.#tell(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    if (change.type === 'deleted') {
      this.#heartbeats.forget(name);
      this.#tell(node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
    }
    const isZoneTouched = change.type !== 'updated' || readiness(change.previous) !== readiness(node);
    // What one node's readiness means for the others is decided for all of them.
    for (const one of isZoneTouched ? this.#nodes.list() : [node]) this.#queue.add(one.metadata.name);
  }

  async #look(name: string, signal: AbortSignal): Promise<void> {
    const { clock, timings } = this.#context;
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    const leftMs = this.#heartbeats.leftMs(name, timings.nodeGraceMs, timings.nodeStartupGraceMs, clock.monotonic());
    if (leftMs > 0) this.#queue.addAfter(name, leftMs);
    try {
      const judged = leftMs > 0 ? node : await this.#declareSilent(node, signal);
      await this.#taint(judged, signal);
      if (leftMs === 0) await this.#markPods(name, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error; // the node went meanwhile
    }
  }

  async #declareSilent(node: Node, signal: AbortSignal): Promise<Node> {
    const { name } = node.metadata;
    const conditions = silentConditions(node, this.#now());
    if (conditions.length === 0) return node;
    const silent = await this.#context.client.patch(nodeKind, { name }, 'strategic', { status: { conditions } }, 'status', signal);
    if (readiness(node) === 'True') this.#tell(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    return silent;
  }

  async #taint(node: Node, signal: AbortSignal): Promise<void> {
    const { name, resourceVersion } = node.metadata;
    const taints = planTaints(node, this.#eviction(node), this.#now());
    if (taints === undefined) return;
    // Lists of taints are written whole: only on the state that they were worked out from.
    const patch = { metadata: { resourceVersion }, spec: { taints } };
    await this.#context.client.patch(nodeKind, { name }, 'merge', patch, '', signal);
  }

  /** Whether the node may drive its pods away now; if it has to wait for its turn, it is looked at again then. */
  #eviction(node: Node): Eviction {
    const { clock, timings } = this.#context;
    const zones = zonesOf(this.#nodes.list().map((one) => (one.metadata.name === node.metadata.name ? node : one)));
    if (zones.allFullyDisrupted) return 'none';
    if (!wantsEviction(node)) return 'hold';
    const zone = zoneOf(node);
    const nowMs = clock.monotonic();
    const waitMs = (this.#nextEvictionMs.get(zone) ?? 0) - nowMs;
    const intervalMs = zones.evictionIntervalMs(zone, timings.nodeEvictionIntervalMs);
    if (intervalMs === Number.POSITIVE_INFINITY) return 'hold'; // until a node of the zone recovers, which brings all of them back here
    if (waitMs > 0) {
      this.#queue.addAfter(node.metadata.name, waitMs);
      return 'hold';
    }
    this.#nextEvictionMs.set(zone, nowMs + intervalMs);
    return 'allowed';
  }

  async #markPods(nodeName: string, signal: AbortSignal): Promise<void> {
    const { client, events, podsByNode } = this.#context;
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: this.#now() };
    for (const pod of podsToMark(podsByNode.get(nodeName))) {
      events.emit(referenceTo(pod), { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
      const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
      await client.patch(podKind, pod.metadata, 'strategic', patch, 'status', signal).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  #tell(node: Node, reason: string, message: string): void {
    this.#context.events.emit(referenceTo(node), { type: 'Normal', reason, message });
  }

  #now(): string {
    return timestamp(this.#context.clock.now());
  }
}
