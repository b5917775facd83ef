import { labelSelectorCovers } from '#api/selector.ts';
import { disruptionBudgetExceeded, forbidden, type StatusError } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Condition } from '#api/types/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '#api/types/policy-v1.ts';

/** What stands in the way of an eviction. */
export type EvictionPlan =
  /** No budget has a say. @param isExactly whether the pod must still be as it was seen: it may be about to count */
  | { readonly kind: 'evict'; readonly isExactly: boolean }
  | { readonly kind: 'take'; readonly budget: PodDisruptionBudget }
  | { readonly kind: 'undecided' };

/** More evictions than the budget's controller has confirmed are not remembered. */
const maxDisruptedPods = 2000;
const budgetResource = { group: 'policy', plural: 'poddisruptionbudget' }; // upstream's singular

/** Pure. @param budgets of the pod's namespace */
export function planEviction(pod: Pod, budgets: readonly PodDisruptionBudget[]): EvictionPlan {
  const { phase } = pod.status ?? {};
  const isOver = phase === 'Succeeded' || phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined;
  if (isOver) return { kind: 'evict', isExactly: false };
  if (phase === 'Pending') return { kind: 'evict', isExactly: true };
  const [budget, second] = budgets.filter((candidate) => covers(candidate, pod));
  if (second !== undefined) return { kind: 'undecided' };
  if (budget === undefined) return { kind: 'evict', isExactly: false };
  return isReady(pod) || !sparesUnhealthy(budget) ? { kind: 'take', budget } : { kind: 'evict', isExactly: true };
}

/** The budget with one disruption less. @throws a 429 or 403 `StatusError` when it has none to give */
export function withDisruption(budget: PodDisruptionBudget, podName: string, now: string): PodDisruptionBudget {
  const { status = {} } = budget;
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  refuseIfSpent(budget, status);
  const left = disruptionsAllowed - 1;
  const conditions = left === 0 ? withoutMore(status, now) : status.conditions;
  return { ...budget, status: { ...status, disruptionsAllowed: left, disruptedPods: { ...disruptedPods, [podName]: now }, conditions } };
}

/** The pod changed just now: it may count by the time of the next try. */
export function stillProcessing(budgetName: string): StatusError {
  return disruptionBudgetExceeded(`The disruption budget ${budgetName} is still being processed by the server.`, 10);
}

function covers({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
  return metadata.namespace === pod.metadata.namespace && labelSelectorCovers(spec?.selector, pod.metadata.labels);
}

function isReady({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

/** Whether a pod that does not count may go without a disruption being taken. */
function sparesUnhealthy({ spec, status }: PodDisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0);
}

function refuseIfSpent({ metadata: { name, generation = 0 } }: PodDisruptionBudget, status: PodDisruptionBudgetStatus): void {
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = status;
  if (observedGeneration < generation) throw stillProcessing(name);
  if (disruptionsAllowed < 0) throw forbidden(budgetResource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    throw forbidden(budgetResource, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw disruptionBudgetExceeded(`The disruption budget ${name} ${whyNone(status)}`, 0);
}

function whyNone({ currentHealthy = 0, desiredHealthy = 0, conditions = [] }: PodDisruptionBudgetStatus): string {
  const refused = conditions.find(({ type, status, message }) => type === 'DisruptionAllowed' && status === 'False' && message !== '');
  const none = 'does not allow evicting pods currently';
  if (refused?.reason === 'SyncFailed') return `${none} because it failed sync: ${refused.message}`;
  if (currentHealthy <= desiredHealthy) return `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return refused === undefined ? none : `${none} (${refused.reason}): ${refused.message}`;
}

function withoutMore({ conditions = [], observedGeneration }: PodDisruptionBudgetStatus, now: string): readonly Condition[] {
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
  };
  return [...conditions.filter(({ type }) => type !== 'DisruptionAllowed'), next];
}
