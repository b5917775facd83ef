import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aBudget } from '#api/testing/workloads.ts';
import { podDisruptionBudget } from './pod-disruption-budget.ts';

test('a budget begins with nothing that may be disrupted', () => {
  const { metadata, status } = created(podDisruptionBudget, aBudget());
  assert.deepEqual([metadata.generation, status?.disruptionsAllowed, status?.expectedPods], [1, 0, 0]);
});

for (const [what, spec, expected] of [
  [
    'of both ends',
    { maxUnavailable: 1, selector: undefined },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: ' +
        'minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  ['of more than all', { minAvailable: '101%' }, ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%']],
  ['of less than nothing', { minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
  [
    'with a policy of its own',
    { unhealthyPodEvictionPolicy: 'Never' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
  [
    'with a selector that cannot be',
    { selector: { matchExpressions: [{ key: 'app', operator: 'Is' }] } },
    ['spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'],
  ],
] as const) {
  test(`a budget ${what} is refused`, () => {
    assert.deepEqual(refusal(podDisruptionBudget, aBudget(spec)), expected);
  });
}

test('the spec of a budget may change', () => {
  const first = created(podDisruptionBudget, aBudget());
  const { object, refusal: problems } = updated(podDisruptionBudget, first, created(podDisruptionBudget, aBudget({ minAvailable: '50%' })));
  assert.deepEqual([object.metadata.generation, problems], [2, []]);
});

test('conditions of a budget are whole', () => {
  const first = created(podDisruptionBudget, aBudget());
  const good = { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', lastTransitionTime: '2026-12-02T06:01:00Z' };
  assert.deepEqual(statusRefusal(podDisruptionBudget, first, { conditions: [good] }), []);
  const bad = { type: 'DisruptionAllowed', status: 'Yes', reason: '1st', message: '' };
  const [twice, status, time, reason, count] = statusRefusal(podDisruptionBudget, first, { conditions: [good, bad], expectedPods: -1 });
  assert.deepEqual(
    [twice, status, time, count],
    [
      'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
      'status.conditions[1].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
      'status.conditions[1].lastTransitionTime: Required value: must be set',
      'status.expectedPods: Invalid value: -1: must be greater than or equal to 0',
    ],
  );
  assert.match(reason ?? '', /^status\.conditions\[1\]\.reason: Invalid value: "1st": a condition reason must start with alphabetic character, /);
});

test('the row of a budget', () => {
  const object = created(podDisruptionBudget, aBudget({ minAvailable: '50%' }));
  assert.deepEqual(cells(podDisruptionBudget, { ...object, status: { ...object.status, disruptionsAllowed: 2 } }), ['web', '50%', 'N/A', 2, '5m']);
});
