import { addResources, podRequests, type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const NATIVE = ['cpu', 'memory', 'ephemeral-storage'];

/** Room for one more pod, then for what it asks. An extended resource that the node does not have is the cluster's business, not ours. */
export function resourcesPredicate({ pod, node, otherPods }: AdmissionInput): Refusal | undefined {
  const allocatable = resourcesOf(node.allocatable);
  const pods = allocatable.get('pods') ?? 0;
  if (otherPods.length + 1 > pods) return outOf('pods', 1, otherPods.length, pods);
  const requested = podRequests(pod);
  if ([...requested.values()].every((amount) => amount === 0)) return undefined;
  const used = otherPods.map(podRequests).reduce(addResources, new Map() as Resources);
  const others = [...requested.keys()].filter((name) => !NATIVE.includes(name) && !(isExtended(name) && !allocatable.has(name)));
  for (const name of [...NATIVE, ...others]) {
    const [wanted, taken, capacity] = [requested.get(name) ?? 0, used.get(name) ?? 0, allocatable.get(name) ?? 0];
    if (wanted > 0 && wanted > capacity - taken) return outOf(name, wanted, taken, capacity);
  }
  return undefined;
}

function outOf(name: string, requested: number, used: number, capacity: number): Refusal {
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message };
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/');
}
