import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '#api/types/policy-v1.ts';
import { type Controller, NoScale, planBudget } from './plan.ts';

const nowMs = Date.UTC(2030, 0, 1);
const now = '2030-01-01T00:00:00Z';
const four = { uid: 'rs', replicas: 4 };

function aBudget(spec: PodDisruptionBudgetSpec, status?: PodDisruptionBudgetStatus): PodDisruptionBudget {
  const metadata = { name: 'budget', namespace: 'shop', uid: 'u', creationTimestamp: now, resourceVersion: '1', generation: 2 };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec, ...(status === undefined ? {} : { status }) };
}

const pod = (name: string, isReady = true, metadata: object = {}) =>
  aPod({
    metadata: { name, namespace: 'shop', ...metadata },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
const pods = ['a', 'b', 'c'].map((name) => pod(name));

function plan(budget: PodDisruptionBudget, matching = pods, controllerOf: (name: string) => Controller | undefined = () => four) {
  return planBudget(budget, { pods: matching, controllerOf: ({ metadata }) => controllerOf(metadata.name), nowMs, now });
}

function numbers({ budget: { status } }: ReturnType<typeof plan>) {
  return [status?.expectedPods, status?.desiredHealthy, status?.currentHealthy, status?.disruptionsAllowed];
}

test('a number to keep is counted against the pods that there are', () => {
  assert.deepEqual(numbers(plan(aBudget({ minAvailable: 2 }))), [3, 2, 3, 1]);
  assert.deepEqual(numbers(plan(aBudget({ minAvailable: 5 }))), [3, 5, 3, 0]);
  assert.deepEqual(numbers(plan(aBudget({ minAvailable: 2 }), [pod('a'), pod('b', false)])), [2, 2, 1, 0]);
});

test('a share, and what may be missing, are counted against what the controllers want; shares are rounded up', () => {
  assert.deepEqual(numbers(plan(aBudget({ minAvailable: '50%' }))), [4, 2, 3, 1]);
  assert.deepEqual(numbers(plan(aBudget({ minAvailable: '51%' }))), [4, 3, 3, 0]);
  assert.deepEqual(numbers(plan(aBudget({ maxUnavailable: 2 }))), [4, 2, 3, 1]);
  assert.deepEqual(numbers(plan(aBudget({ maxUnavailable: '10%' }))), [4, 3, 3, 0]);
  const two = (name: string) => (name === 'a' ? { uid: 'x', replicas: 1 } : { uid: 'y', replicas: 2 });
  assert.deepEqual(numbers(plan(aBudget({ maxUnavailable: 1 }), pods, two)), [3, 2, 3, 1]);
});

test('pods without a controller do not count then, and are told', () => {
  const result = plan(aBudget({ maxUnavailable: 1 }), pods, () => undefined);
  assert.deepEqual(numbers(result), [0, 0, 3, 0]);
  assert.match(
    result.events[0]?.message ?? '',
    /^Pods selected by this PodDisruptionBudget \(selector: .*\) were found to be unmanaged\..*: a, b, c$/,
  );
});

test('a controller that says no number allows nothing', () => {
  const result = plan(aBudget({ maxUnavailable: 1 }), pods, () => {
    throw new NoScale('found no controllers for pod "a"');
  });
  assert.equal(result.budget.status?.disruptionsAllowed, 0);
  assert.deepEqual(result.budget.status?.conditions, [
    {
      ...{ type: 'DisruptionAllowed', status: 'False', observedGeneration: 2, lastTransitionTime: now },
      ...{ reason: 'SyncFailed', message: 'found no controllers for pod "a"' },
    },
  ]);
  assert.deepEqual(result.events, [
    {
      type: 'Warning',
      reason: 'CalculateExpectedPodCountFailed',
      message: 'Failed to calculate the number of expected pods: found no controllers for pod "a"',
    },
  ]);
});

test('evicted pods do not count until they are gone, or until two minutes have passed', () => {
  const evictedAt = (secondsAgo: number) => ({ disruptedPods: { a: new Date(nowMs - secondsAgo * 1000).toISOString() } });
  const young = plan(aBudget({ minAvailable: 1 }, evictedAt(30)));
  assert.deepEqual([numbers(young), young.againInMs], [[3, 1, 2, 1], 90_000]);
  const old = plan(aBudget({ minAvailable: 1 }, evictedAt(121)));
  assert.deepEqual([numbers(old), old.budget.status?.disruptedPods, old.events[0]?.reason], [[3, 1, 3, 2], undefined, 'NotDeleted']);
  const going = plan(aBudget({ minAvailable: 1 }, evictedAt(30)), [pod('a', true, { deletionTimestamp: now }), pod('b')]);
  assert.deepEqual([numbers(going), going.budget.status?.disruptedPods], [[2, 1, 1, 0], undefined]);
  assert.equal(plan(aBudget({ minAvailable: 1 }, evictedAt(30)), [pod('b')]).budget.status?.disruptedPods, undefined);
});

test('what is right is not written again, and a condition keeps its time', () => {
  const first = plan(aBudget({ minAvailable: 2 })).budget;
  assert.equal(plan(first).budget, first);
  assert.deepEqual(plan(aBudget({ minAvailable: 2 }), []).events, [{ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' }]);
  const later = planBudget(first, { pods: [pod('a'), pod('b'), pod('c'), pod('d')], controllerOf: () => four, nowMs: nowMs + 60_000, now: 'later' });
  assert.deepEqual([later.budget.status?.disruptionsAllowed, later.budget.status?.conditions?.[0]?.lastTransitionTime], [2, now]);
});
