import { deepEqual } from '#api/deep-equal.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Condition } from '#api/types/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '#api/types/policy-v1.ts';

/** Source of a pod's number: its controller, by kind and uid, with how many it wants. */
export interface Controller {
  readonly uid: string;
  readonly replicas: number;
}

export interface BudgetFacts {
  /** All that the budget's selector matches. */
  readonly pods: readonly Pod[];
  /** Of a pod; `undefined`: it has none. @throws {NoScale} */
  controllerOf(pod: Pod): Controller | undefined;
  readonly nowMs: number;
  /** The same as a timestamp. */
  readonly now: string;
}

/** A pod's controller is of a kind that does not say how many it wants. */
export class NoScale extends Error {}

export interface BudgetPlan {
  /** The same object as before when nothing changed. */
  readonly budget: PodDisruptionBudget;
  readonly events: readonly { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }[];
  /** When an eviction that was allowed is given up. */
  readonly againInMs: number | undefined;
}

/** An evicted pod that is still there after this time will not go. */
const evictionWithinMs = 120_000;

/** What the budget allows now. Pure. */
export function planBudget(budget: PodDisruptionBudget, facts: BudgetFacts): BudgetPlan {
  const events: BudgetPlan['events'][number][] = [];
  if (facts.pods.length === 0) events.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
  const evicted = evictionsUnderWay(budget, facts);
  for (const name of evicted.overdue) {
    const { namespace } = budget.metadata;
    const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`; // upstream repeats the namespace
    events.push({ type: 'Warning', reason: 'NotDeleted', message: `${message}: ${name}` });
  }
  const counted = count(budget, facts);
  if (counted.kind === 'failed') {
    const message = `Failed to calculate the number of expected pods: ${counted.problem}`;
    events.push({ type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
    const condition = conditionOf(budget, facts.now, 'False', 'SyncFailed', counted.problem);
    return planned(budget, { ...budget.status, disruptionsAllowed: 0, ...withCondition(budget, condition) }, events, undefined);
  }
  if (counted.unmanaged.length > 0) events.push({ type: 'Warning', reason: 'UnmanagedPods', message: unmanagedText(budget, counted.unmanaged) });
  const healthy = facts.pods.filter((pod) => isHealthy(pod) && evicted.at[pod.metadata.name] === undefined).length;
  const allowed = counted.expected <= 0 ? 0 : Math.max(0, healthy - counted.desired);
  const condition = conditionOf(budget, facts.now, allowed > 0 ? 'True' : 'False', allowed > 0 ? 'SufficientPods' : 'InsufficientPods', '');
  const status: PodDisruptionBudgetStatus = {
    observedGeneration: budget.metadata.generation,
    ...(Object.keys(evicted.at).length === 0 ? {} : { disruptedPods: evicted.at }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: counted.desired,
    expectedPods: counted.expected,
    ...withCondition(budget, condition),
  };
  return planned(budget, status, events, evicted.againInMs);
}

function planned(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  events: BudgetPlan['events'],
  againInMs: number | undefined,
): BudgetPlan {
  return { budget: deepEqual(budget.status, status) ? budget : { ...budget, status }, events, againInMs };
}

type Count =
  | { readonly kind: 'counted'; readonly expected: number; readonly desired: number; readonly unmanaged: readonly string[] }
  | { readonly kind: 'failed'; readonly problem: string };

function count({ spec }: PodDisruptionBudget, facts: BudgetFacts): Count {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    const expected = minAvailable === undefined ? 0 : facts.pods.length;
    return { kind: 'counted', expected, desired: minAvailable ?? 0, unmanaged: [] };
  }
  try {
    const { expected, unmanaged } = wantedByControllers(facts);
    const share = scaled(maxUnavailable ?? minAvailable ?? 0, expected);
    return { kind: 'counted', expected, desired: maxUnavailable === undefined ? share : Math.max(0, expected - share), unmanaged };
  } catch (error) {
    if (error instanceof NoScale) return { kind: 'failed', problem: error.message };
    throw error;
  }
}

/** Each controller counts once; pods without one do not count. */
function wantedByControllers({ pods, controllerOf }: BudgetFacts): { readonly expected: number; readonly unmanaged: readonly string[] } {
  const replicas = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (controller === undefined) unmanaged.push(pod.metadata.name);
    else replicas.set(controller.uid, controller.replicas);
  }
  return { expected: [...replicas.values()].reduce((sum, each) => sum + each, 0), unmanaged };
}

/** A percentage is rounded up. */
function scaled(value: number | string, total: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100);
}

interface Evictions {
  readonly at: Readonly<Record<string, string>>;
  readonly overdue: readonly string[];
  readonly againInMs: number | undefined;
}

/** Pods that were evicted and whose deletion is not seen yet: they do not count as healthy. */
function evictionsUnderWay({ status }: PodDisruptionBudget, { pods, nowMs }: BudgetFacts): Evictions {
  const waiting = Object.entries(status?.disruptedPods ?? {}).flatMap(([name, at]) => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    return [{ name, at, leftMs: Date.parse(at) + evictionWithinMs - nowMs }];
  });
  const live = waiting.filter(({ leftMs }) => leftMs > 0);
  return {
    at: Object.fromEntries(live.map(({ name, at }) => [name, at])),
    overdue: waiting.filter(({ leftMs }) => leftMs <= 0).map(({ name }) => name),
    againInMs: live.length === 0 ? undefined : Math.min(...live.map(({ leftMs }) => leftMs)),
  };
}

function isHealthy({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')
  );
}

function conditionOf({ metadata, status }: PodDisruptionBudget, now: string, value: 'True' | 'False', reason: string, message: string): Condition {
  const before = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const lastTransitionTime = before?.status === value ? before.lastTransitionTime : now;
  const { generation } = metadata;
  return {
    type: 'DisruptionAllowed',
    status: value,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime,
    reason,
    message,
  };
}

function withCondition({ status }: PodDisruptionBudget, condition: Condition): Pick<PodDisruptionBudgetStatus, 'conditions'> {
  const conditions = status?.conditions ?? [];
  const isKnown = conditions.some(({ type }) => type === condition.type);
  return { conditions: isKnown ? conditions.map((one) => (one.type === condition.type ? condition : one)) : [...conditions, condition] };
}

function unmanagedText({ spec }: PodDisruptionBudget, names: readonly string[]): string {
  const selector = JSON.stringify(spec?.selector ?? {});
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. ` +
    `As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior: ${names.join(', ')}`
  );
}
