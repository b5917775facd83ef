import { type QosClass, qosClass } from '#api/pod/qos.ts';
import { podRequests } from '#api/pod/requests.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { isCritical } from '../resources/critical.ts';
import type { Shortage } from './resources.ts';

export const preemptingReason = 'Preempting';
export const preemptingMessage = 'Preempted in order to admit critical pod';

export type Preemption = { readonly kind: 'victims'; readonly victims: readonly Pod[] } | { readonly kind: 'impossible'; readonly message: string };

interface Need {
  readonly resource: string;
  readonly amount: number;
}

/**
 * Which pods have to go so that a critical pod gets what it lacks: of the better classes of service as few as the others leave necessary, and
 * within a class those that come closest to what is needed.
 */
export function planPreemption(pod: Pod, others: readonly Pod[], lacks: readonly Shortage[]): Preemption {
  const needs = lacks.map(({ resource, requested, used, capacity }) => ({ resource, amount: requested + used - capacity }));
  const candidates = others.filter((other) => mayPreempt(pod, other));
  const unmet = without(needs, candidates);
  if (unmet.length > 0) {
    const list = unmet.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('');
    return {
      kind: 'impossible',
      message: `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${list}]`,
    };
  }
  const of = (wanted: QosClass) => candidates.filter((other) => qosClass(other) === wanted);
  const [bestEffort, burstable] = [of('BestEffort'), of('Burstable')];
  const guaranteedVictims = closest(of('Guaranteed'), without(needs, [...bestEffort, ...burstable]));
  const burstableVictims = closest(burstable, without(needs, [...bestEffort, ...guaranteedVictims]));
  const bestEffortVictims = closest(bestEffort, without(needs, [...burstableVictims, ...guaranteedVictims]));
  return { kind: 'victims', victims: [...bestEffortVictims, ...burstableVictims, ...guaranteedVictims] };
}

function mayPreempt(pod: Pod, other: Pod): boolean {
  return (isCritical(pod) && !isCritical(other)) || (pod.spec?.priority ?? 0) > (other.spec?.priority ?? 0);
}

/** One after the other the pod that leaves least to be wished for; of two alike the one that asks for less. */
function closest(pods: readonly Pod[], needs: readonly Need[]): readonly Pod[] {
  let [left, open] = [pods, needs];
  const victims: Pod[] = [];
  while (open.length > 0 && left.length > 0) {
    const now = open;
    const next = left.reduce((best, pod) => {
      const difference = distance(pod, now) - distance(best, now);
      return difference < 0 || (difference === 0 && pod !== best && asksForLess(pod, best)) ? pod : best;
    });
    victims.push(next);
    open = without(open, [next]);
    left = left.filter((pod) => pod !== next);
  }
  return victims;
}

/** 0: the pod's end would be enough; the more it leaves open, the farther. */
function distance(pod: Pod, needs: readonly Need[]): number {
  return needs.reduce((sum, { resource, amount }) => sum + (Math.max(0, amount - amountOf(pod, resource)) / amount) ** 2, 0);
}

function asksForLess(pod: Pod, other: Pod): boolean {
  for (const resource of ['memory', 'cpu']) {
    const difference = amountOf(pod, resource) - amountOf(other, resource);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

function without(needs: readonly Need[], pods: readonly Pod[]): readonly Need[] {
  return needs
    .map(({ resource, amount }) => ({ resource, amount: pods.reduce((left, pod) => left - amountOf(pod, resource), amount) }))
    .filter(({ amount }) => amount > 0);
}

function amountOf(pod: Pod, resource: string): number {
  return resource === 'pods' ? 1 : (podRequests(pod).get(resource) ?? 0);
}
