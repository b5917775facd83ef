import { addResources, podRequests, type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const NATIVE = ['cpu', 'memory', 'ephemeral-storage'];

/** Of what the node has too little, in the unit of `api/pod/requests.ts`. */
export interface Shortage {
  /** `pods`, `cpu`... */
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

/** Room for one more pod, then for what it asks. An extended resource that the node does not have is the cluster's business, not ours. */
export function shortages({ pod, node, otherPods }: AdmissionInput): readonly Shortage[] {
  const allocatable = resourcesOf(node.allocatable);
  const capacity = allocatable.get('pods') ?? 0;
  const found: Shortage[] = [];
  if (otherPods.length + 1 > capacity) found.push({ resource: 'pods', requested: 1, used: otherPods.length, capacity });
  const requested = podRequests(pod);
  if ([...requested.values()].every((amount) => amount === 0)) return found;
  const used = otherPods.map(podRequests).reduce(addResources, new Map() as Resources);
  const others = [...requested.keys()].filter((name) => !NATIVE.includes(name) && !(isExtended(name) && !allocatable.has(name)));
  for (const resource of [...NATIVE, ...others]) {
    const shortage = { resource, requested: requested.get(resource) ?? 0, used: used.get(resource) ?? 0, capacity: allocatable.get(resource) ?? 0 };
    if (shortage.requested > 0 && shortage.requested > shortage.capacity - shortage.used) found.push(shortage);
  }
  return found;
}

export function shortageRefusal({ resource, requested, used, capacity }: Shortage): Refusal {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message };
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}
