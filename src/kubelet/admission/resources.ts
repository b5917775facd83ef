import type { PodSpec } from '#api/types/core-v1.ts';
import { type Amounts, add, parseAmounts, podRequests } from '../resources/pod-resources.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const NATIVE = ['cpu', 'memory', 'ephemeral-storage'];

/** Room for one more pod, then for what it asks. An extended resource that the node does not have is the cluster's business, not ours. */
export function resourcesPredicate({ pod, node, otherPods }: AdmissionInput): Refusal | undefined {
  const allocatable = parseAmounts(node.allocatable);
  const pods = allocatable['pods'] ?? 0;
  if (otherPods.length + 1 > pods) return outOf('pods', 1, otherPods.length, pods);
  const requested = requestsOf(pod.spec);
  if (Object.values(requested).every((amount) => amount === 0)) return undefined;
  const used = otherPods.reduce((sum, other) => add(sum, requestsOf(other.spec)), {} as Amounts);
  const others = Object.keys(requested).filter((name) => !NATIVE.includes(name) && !(isExtended(name) && allocatable[name] === undefined));
  for (const name of [...NATIVE, ...others]) {
    const [wanted, taken, capacity] = [requested[name] ?? 0, used[name] ?? 0, allocatable[name] ?? 0];
    if (wanted > 0 && wanted > capacity - taken) return outOf(name, wanted, taken, capacity);
  }
  return undefined;
}

function requestsOf(spec: PodSpec | undefined): Amounts {
  return spec === undefined ? {} : podRequests(spec);
}

function outOf(name: string, requested: number, used: number, capacity: number): Refusal {
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message };
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/');
}
