import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { LimitRange, LimitRangeItem, ResourceQuota, ResourceQuotaSpec } from '#api/types/core-v1.ts';
import { limitRange } from './limit-range.ts';
import { resourceQuota } from './resource-quota.ts';

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };
const quota = (spec: ResourceQuotaSpec): ResourceQuota => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec });
const range = (...limits: readonly LimitRangeItem[]): LimitRange =>
  limitRange.setDefaults({ apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } });
const quotaProblems = (spec: ResourceQuotaSpec) => resourceQuota.validate(quota(spec)).map(problemText);
const rangeProblems = (...limits: readonly LimitRangeItem[]) => limitRange.validate(range(...limits)).map(problemText);

test('a quota counts standard resources and those of others', () => {
  const hard = { cpu: '1500m', pods: '5', 'requests.nvidia.com/gpu': '4', 'count/deployments.apps': '3', 'requests.hugepages-2Mi': '1Gi' };
  assert.deepEqual(quotaProblems({ hard }), []);
  assert.deepEqual(quotaProblems({ hard: { storage: '1' } }), [
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ]);
  assert.deepEqual(quotaProblems({ hard: { apples: '1' } }), [
    'spec.hard[apples]: Invalid value: "apples": must be a standard resource type or fully qualified',
    'spec.hard[apples]: Invalid value: "apples": must be a standard resource for quota',
  ]);
  assert.deepEqual(quotaProblems({ hard: { pods: '500m', cpu: '-1' } }), [
    'spec.hard[pods]: Invalid value: "500m": must be an integer',
    'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test('scopes of a quota suit each other and what it counts', () => {
  assert.deepEqual(quotaProblems({ hard: { pods: '1' }, scopes: ['BestEffort'] }), []);
  assert.deepEqual(quotaProblems({ hard: { pods: '1' }, scopes: ['X'] }), ['spec.scopes: Invalid value: ["X"]: unsupported scope']);
  assert.deepEqual(quotaProblems({ hard: { cpu: '1' }, scopes: ['BestEffort'] }), [
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]);
  assert.deepEqual(quotaProblems({ hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] }), [
    'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes',
  ]);
  const selected = (scopeName: string, operator: string, ...values: readonly string[]) =>
    quotaProblems({ hard: { pods: '1' }, scopeSelector: { matchExpressions: [{ scopeName, operator, values }] } });
  const at = 'spec.scopeSelector.matchExpressions';
  assert.deepEqual(selected('PriorityClass', 'In', 'high'), []);
  assert.deepEqual(selected('PriorityClass', 'In'), [
    `${at}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
  ]);
  assert.deepEqual(selected('PriorityClass', 'Exists', 'a'), [
    `${at}.values: Invalid value: ["a"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
  ]);
  const opposites = ['BestEffort', 'NotBestEffort'].map((scopeName) => ({ scopeName, operator: 'Exists' }));
  assert.deepEqual(quotaProblems({ hard: { pods: '1' }, scopeSelector: { matchExpressions: opposites } }), [
    `${at}: Invalid value: null: conflicting scopes`,
  ]);
  assert.match(selected('BestEffort', 'In', 'a')[0] ?? '', /operator: Invalid value: "In": must be 'Exist' only operator when scope is any of/);
});

test('scopes of a quota stay, and nobody gives its status with it', () => {
  const before = quota({ hard: { pods: '1' }, scopes: ['BestEffort', 'NotTerminating'] });
  assert.deepEqual(resourceQuota.validateUpdate(quota({ hard: { pods: '2' }, scopes: ['NotTerminating', 'BestEffort'] }), before), []);
  assert.deepEqual(resourceQuota.validateUpdate(quota({ hard: { pods: '1' }, scopes: ['BestEffort'] }), before).map(problemText), [
    'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
  ]);
  assert.deepEqual(resourceQuota.prepareCreate({ ...before, status: { hard: { pods: '9' } } }).status, {});
});

test('rows of quotas show use and limit of each resource by name', () => {
  const status = { hard: { 'requests.cpu': '1', 'limits.cpu': '2', pods: '10' }, used: { 'requests.cpu': '500m', pods: '3' } };
  const cells = resourceQuota.columns.map((column) => column.cell({ ...quota({}), status }, Date.parse('2026-01-02T03:05:05Z')));
  assert.deepEqual(cells, ['a', 'pods: 3/10, requests.cpu: 500m/1', 'limits.cpu: 0/2', '60s']);
});

test('what a container may have at most is what it gets, and what it asks for unless there is less', () => {
  const [item] = range({ type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' } }).spec?.limits ?? [];
  assert.deepEqual(item, {
    type: 'Container',
    max: { cpu: '2' },
    min: { cpu: '1', memory: '1Mi' },
    default: { cpu: '2' },
    defaultRequest: { cpu: '2', memory: '1Mi' },
  });
  assert.deepEqual(range({ type: 'Pod', max: { cpu: '2' } }).spec?.limits, [{ type: 'Pod', max: { cpu: '2' } }]);
});

const badRanges: readonly (readonly [what: string, item: LimitRangeItem, ...problems: readonly string[]])[] = [
  ['an unknown type', { type: 'X' }, 'type: Invalid value: "X": must be a standard limit type or fully qualified'],
  ['a default for pods', { type: 'Pod', default: { cpu: '1' } }, "default: Forbidden: may not be specified when `type` is 'Pod'"],
  [
    'a claim without bounds',
    { type: 'PersistentVolumeClaim' },
    'limits: Required value: either minimum or maximum storage value is required, but neither was provided',
  ],
  [
    'storage of a container',
    { type: 'Container', min: { storage: '1' }, defaultRequest: { storage: '1' } },
    'min[storage]: Invalid value: "storage": must be a standard resource for containers',
    'defaultRequest[storage]: Invalid value: "storage": must be a standard resource for containers',
  ],
  [
    'a minimum above the maximum',
    { type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } },
    'min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
  ],
  [
    'a request above the limit',
    { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } },
    'defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1',
  ],
  [
    'a default above the maximum',
    { type: 'Container', default: { cpu: '3' }, defaultRequest: { cpu: '1' }, max: { cpu: '2' } },
    'default[cpu]: Invalid value: "2": default value 3 is greater than max value 2',
  ],
  [
    'a ratio below one',
    { type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } },
    'maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
  ],
  [
    'a ratio that cannot be',
    { type: 'Pod', min: { memory: '1Gi' }, max: { memory: '2Gi' }, maxLimitRequestRatio: { memory: '3' } },
    'maxLimitRequestRatio[memory]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
  ],
];
for (const [what, item, ...texts] of badRanges) {
  test(`a LimitRange may not have ${what}`, () =>
    assert.deepEqual(
      rangeProblems(item),
      texts.map((text) => `spec.limits[0].${text}`),
    ));
}

test('a ratio is judged by parts of a unit too', () => {
  const item = { type: 'Pod', min: { cpu: '100m' }, max: { cpu: '2' } };
  assert.deepEqual(rangeProblems({ ...item, maxLimitRequestRatio: { cpu: '20' } }), []);
  assert.deepEqual(rangeProblems({ ...item, maxLimitRequestRatio: { cpu: '20500m' } }), [
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "20500m": ratio 20500m is greater than max/min = 20.000000',
  ]);
});

test('a LimitRange speaks of a type once', () => {
  assert.deepEqual(rangeProblems({ type: 'Pod' }, { type: 'Pod' }), ['spec.limits[1].type: Duplicate value: "Pod"']);
});
