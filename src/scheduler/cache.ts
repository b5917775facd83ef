import type { Node } from '#api/types/core-v1.ts';
import { type NodeRoom, nodeRoom } from './node-room.ts';
import type { PodDemand } from './pod-demand.ts';

interface Placed {
  readonly demand: PodDemand;
  readonly nodeName: string;
}

/**
 * Where every pod is, including those whose binding is on its way (assumed): the next pod must not get the same room.
 *
 * A node's room is worked out anew when it is asked for after a change.
 */
export class SchedulerCache {
  readonly #nodes = new Map<string, Node>();
  /** By uid. */
  readonly #pods = new Map<string, Placed>();
  readonly #assumed = new Set<string>();
  readonly #byNode = new Map<string, Map<string, PodDemand>>();
  readonly #rooms = new Map<string, NodeRoom>();

  /** Every node that exists. */
  rooms(): readonly NodeRoom[] {
    return [...this.#nodes.values()].map((node) => this.#room(node));
  }

  putNode(node: Node): void {
    this.#nodes.set(node.metadata.name, node);
    this.#rooms.delete(node.metadata.name);
  }

  /** Its pods stay known: they are told of on their own, and the node may come back. */
  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#rooms.delete(name);
  }

  /** A pod that the API server says is on the node: an assumption that it confirms, or overrules, is one no longer. */
  putPod(demand: PodDemand, nodeName: string): void {
    this.#place(demand, nodeName);
    this.#assumed.delete(demand.pod.metadata.uid);
  }

  /** @param uid may be unknown */
  removePod(uid: string): void {
    const placed = this.#pods.get(uid);
    if (placed === undefined) return;
    this.#pods.delete(uid);
    this.#assumed.delete(uid);
    const pods = this.#byNode.get(placed.nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(placed.nodeName);
    this.#rooms.delete(placed.nodeName);
  }

  assume(demand: PodDemand, nodeName: string): void {
    this.#place(demand, nodeName);
    this.#assumed.add(demand.pod.metadata.uid);
  }

  /** Takes an assumption back; what the API server said stays. */
  forget(uid: string): void {
    if (this.#assumed.has(uid)) this.removePod(uid);
  }

  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  #place(demand: PodDemand, nodeName: string): void {
    const { uid } = demand.pod.metadata;
    this.removePod(uid);
    this.#pods.set(uid, { demand, nodeName });
    const pods = this.#byNode.get(nodeName) ?? new Map<string, PodDemand>();
    this.#byNode.set(nodeName, pods.set(uid, demand));
    this.#rooms.delete(nodeName);
  }

  #room(node: Node): NodeRoom {
    const { name } = node.metadata;
    const room = this.#rooms.get(name) ?? nodeRoom(node, [...(this.#byNode.get(name)?.values() ?? [])]);
    this.#rooms.set(name, room);
    return room;
  }
}
