import type { HostPort } from '#api/pod/host-ports.ts';
import { type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { Node } from '#api/types/core-v1.ts';
import type { PodDemand } from './pod-demand.ts';

/** A node and what of it is taken. */
export interface NodeRoom {
  readonly node: Node;
  readonly allocatable: Resources;
  readonly requested: Resources;
  readonly guessed: { readonly cpu: number; readonly memory: number };
  readonly ports: readonly HostPort[];
  readonly pods: readonly PodDemand[];
}

export function nodeRoom(node: Node, pods: readonly PodDemand[]): NodeRoom {
  const requested = new Map<string, number>();
  for (const pod of pods) for (const [name, amount] of pod.requests) requested.set(name, (requested.get(name) ?? 0) + amount);
  return {
    node,
    allocatable: resourcesOf(node.status?.allocatable),
    requested,
    guessed: { cpu: sum(pods, (pod) => pod.guessed.cpu), memory: sum(pods, (pod) => pod.guessed.memory) },
    ports: pods.flatMap((pod) => pod.ports),
    pods,
  };
}

function sum(pods: readonly PodDemand[], amount: (pod: PodDemand) => number): number {
  return pods.reduce((total, pod) => total + amount(pod), 0);
}
