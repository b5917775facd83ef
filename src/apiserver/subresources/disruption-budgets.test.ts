import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '#api/types/policy-v1.ts';
import { planEviction, withDisruption } from './disruption-budgets.ts';

const now = '2030-01-01T00:00:00Z';
const pod = (phase: string, isReady = true, metadata: object = {}): Pod =>
  aPod({ metadata: { labels: { app: 'a' }, ...metadata }, status: { phase, conditions: isReady ? [{ type: 'Ready', status: 'True' }] : [] } });
const budget = (status: PodDisruptionBudgetStatus = {}, spec: PodDisruptionBudgetSpec = {}, namespace = 'default'): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace, uid: 'u', resourceVersion: '1', creationTimestamp: now, generation: 1 },
  spec: { selector: { matchLabels: { app: 'a' } }, ...spec },
  status: { observedGeneration: 1, ...status },
});
const causeOf = (status: PodDisruptionBudgetStatus) => {
  try {
    withDisruption(budget(status), 'p', now);
  } catch (error) {
    assert.ok(error instanceof StatusError);
    const { code, message, details } = error.status;
    return [code, details?.causes?.[0]?.message ?? message, details?.retryAfterSeconds];
  }
  throw new Error('nothing was refused');
};

test('a pod that is over, going or pending is nothing that a budget guards', () => {
  assert.deepEqual(planEviction(pod('Failed'), [budget()]), { kind: 'evict', isExactly: false });
  assert.deepEqual(planEviction(pod('Running', true, { deletionTimestamp: now }), [budget()]), { kind: 'evict', isExactly: false });
  assert.deepEqual(planEviction(pod('Pending'), [budget()]), { kind: 'evict', isExactly: true });
});

test('the one budget that covers a pod decides; those elsewhere or of others do not', () => {
  const mine = budget();
  assert.deepEqual(planEviction(pod('Running'), [budget({}, {}, 'other'), budget({}, { selector: { matchLabels: { app: 'b' } } }), mine]), {
    kind: 'take',
    budget: mine,
  });
  assert.deepEqual(planEviction(pod('Running'), [budget({}, { selector: undefined })]), { kind: 'evict', isExactly: false });
  assert.equal(planEviction(pod('Running'), [budget({}, { selector: {} })]).kind, 'take');
  assert.deepEqual(planEviction(pod('Running'), [mine, budget()]), { kind: 'undecided' });
});

test('a pod that is not ready may go where it does not count, if the budget is met or says always', () => {
  const spared = { kind: 'evict', isExactly: true };
  assert.deepEqual(planEviction(pod('Running', false), [budget({ currentHealthy: 2, desiredHealthy: 2 })]), spared);
  assert.deepEqual(planEviction(pod('Running', false), [budget({}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })]), spared);
  assert.equal(planEviction(pod('Running', false), [budget({ currentHealthy: 1, desiredHealthy: 2 })]).kind, 'take');
  assert.equal(planEviction(pod('Running', false), [budget({ currentHealthy: 0, desiredHealthy: 0 })]).kind, 'take');
});

test('a disruption is taken and remembered; the last one is told in a condition', () => {
  const { status } = withDisruption(budget({ disruptionsAllowed: 2 }), 'p', now);
  assert.deepEqual([status?.disruptionsAllowed, status?.disruptedPods, status?.conditions], [1, { p: now }, undefined]);
  const last = withDisruption(budget({ disruptionsAllowed: 1 }), 'p', now).status?.conditions;
  assert.deepEqual(last, [
    { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '', observedGeneration: 1, lastTransitionTime: now },
  ]);
});

test('why there is none to take is said in upstream’s words', () => {
  const condition = (reason: string) => [{ type: 'DisruptionAllowed', status: 'False', reason, message: 'oops', lastTransitionTime: now }];
  assert.deepEqual(causeOf({ observedGeneration: 0, disruptionsAllowed: 5 }), [
    429,
    'The disruption budget b is still being processed by the server.',
    10,
  ]);
  assert.deepEqual(causeOf({ currentHealthy: 1, desiredHealthy: 2 }), [
    429,
    'The disruption budget b needs 2 healthy pods and has 1 currently',
    undefined,
  ]);
  assert.deepEqual(causeOf({ currentHealthy: 3, desiredHealthy: 2 }), [
    429,
    'The disruption budget b does not allow evicting pods currently',
    undefined,
  ]);
  assert.deepEqual(causeOf({ conditions: condition('SyncFailed') }), [
    429,
    'The disruption budget b does not allow evicting pods currently because it failed sync: oops',
    undefined,
  ]);
  assert.deepEqual(causeOf({ currentHealthy: 3, desiredHealthy: 2, conditions: condition('InsufficientPods') }), [
    429,
    'The disruption budget b does not allow evicting pods currently (InsufficientPods): oops',
    undefined,
  ]);
  assert.deepEqual(causeOf({ disruptionsAllowed: -1 }), [
    403,
    'poddisruptionbudget.policy "b" is forbidden: pdb disruptions allowed is negative',
    undefined,
  ]);
  const disruptedPods = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, now]));
  assert.match(String(causeOf({ disruptionsAllowed: 1, disruptedPods })[1]), /DisruptedPods map too big - too many evictions not confirmed/);
});
