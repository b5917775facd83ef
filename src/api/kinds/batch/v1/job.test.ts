import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, statusRefusal, updated } from '#api/testing/kind-objects.ts';
import { aJob, template } from '#api/testing/workloads.ts';
import type { Job, JobStatus } from '#api/types/batch-v1.ts';
import { job } from './job.ts';

const generated = {
  'batch.kubernetes.io/controller-uid': 'u1',
  'batch.kubernetes.io/job-name': 'web',
  'controller-uid': 'u1',
  'job-name': 'web',
};
const never = (more: object = {}) => template({ restartPolicy: 'Never', ...more });
const started = (status: JobStatus): JobStatus => ({ startTime: '2026-12-02T06:01:00Z', ...status });

test('a job is stored with its defaults, a selector of its own and the labels of its pods', () => {
  const { metadata, spec, status } = created(job, aJob());
  assert.deepEqual([metadata.generation, metadata.labels, status], [1, generated, {}]);
  const { template: pods, ...rest } = spec ?? { template: {} };
  assert.deepEqual(pods.metadata?.labels, generated);
  assert.deepEqual(rest, {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } },
  });
});

test('a default depends on what the author says', () => {
  const queue = created(job, aJob({ parallelism: 3 })).spec;
  assert.deepEqual([queue?.parallelism, queue?.completions], [3, undefined]);
  const indexed = created(job, aJob({ completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 })).spec;
  assert.deepEqual([indexed?.parallelism, indexed?.backoffLimit], [1, 2 ** 31 - 1]);
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }];
  const careful = created(job, aJob({ podFailurePolicy: { rules } })).spec;
  assert.equal(careful?.podReplacementPolicy, 'Failed');
  assert.deepEqual(careful?.podFailurePolicy?.rules[0]?.onPodConditions, [{ type: 'DisruptionTarget', status: 'True' }]);
});

test('labels of the template become those of a job that has none', () => {
  assert.deepEqual(created(job, aJob({ template: never() })).metadata.labels, { app: 'web' });
  const own = { ...aJob({ template: never() }), metadata: { name: 'web', labels: { a: 'b' } } };
  assert.deepEqual(created(job, own).metadata.labels, { a: 'b' });
});

test('who selects by hand is left alone, and must select the pods', () => {
  const selector = { matchLabels: { app: 'web' } };
  const { spec } = created(job, aJob({ manualSelector: true, selector, template: never() }));
  assert.deepEqual([spec?.selector, spec?.template.metadata?.labels], [selector, { app: 'web' }]);
  assert.deepEqual(refusal(job, aJob({ manualSelector: true, template: never() })), [
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ]);
  assert.deepEqual(refusal(job, aJob({ manualSelector: true, selector: { matchLabels: { app: 'db' } }, template: never() })), [
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ]);
});

test('a selector that was not made for the job is refused', () => {
  const problems = refusal(job, aJob({ selector: { matchLabels: { app: 'web' } }, template: never() }));
  assert.deepEqual(problems, [
    'spec.selector: Invalid value: {"matchLabels":{"app":"web","batch.kubernetes.io/controller-uid":"u1"}}: `selector` not auto-generated',
  ]);
  const labels = { 'job-name': 'other' };
  const [first] = refusal(job, aJob({ template: { ...never(), metadata: { labels } } }));
  assert.match(first ?? '', /^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*\}: must be 'web'$/);
});

for (const [what, spec, expected] of [
  ['without a restart policy', { template: template() }, ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']],
  [
    'with an unknown restart policy',
    { template: never({ restartPolicy: 'Sometimes' }) },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
      'spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "OnFailure", "Never"',
    ],
  ],
  [
    'with negative numbers',
    { completions: -1, backoffLimit: -1 },
    [
      'spec.completions: Invalid value: -1: must be greater than or equal to 0',
      'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    'with indexes that it does not have',
    { maxFailedIndexes: 1, completionMode: 'NonIndexed' },
    [
      'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  [
    'with indexes, but not how many',
    { completionMode: 'Indexed', parallelism: 1 },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'with a mode of its own',
    { completionMode: 'Some' },
    ['spec.completionMode: Unsupported value: "Some": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'with more pods than can be followed',
    { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 0 },
    [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
  ],
  ['run by nobody', { managedBy: 'me' }, ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")']],
  [
    'with a failure policy that says nothing',
    { podFailurePolicy: { rules: [{ action: 'FailIndex' }, { onExitCodes: { values: [3, 1, 1, 0], operator: 'In', containerName: 'x' } }] } },
    [
      'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      'spec.podFailurePolicy.rules[1].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      'spec.podFailurePolicy.rules[1].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[1].onExitCodes.values[2]: Duplicate value: 1',
      'spec.podFailurePolicy.rules[1].onExitCodes.values[3]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: [3,1,1,0]: must be ordered',
    ],
  ],
  [
    'with a failure policy and pods that start again',
    {
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      podReplacementPolicy: 'TerminatingOrFailed',
      template: never({ restartPolicy: 'OnFailure' }),
    },
    [
      'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    'with a success policy that cannot be met',
    {
      completionMode: 'Indexed',
      completions: 3,
      successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 4 }, {}, { succeededIndexes: '3' }] },
    },
    [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)',
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      'spec.successPolicy.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified',
      'spec.successPolicy.rules[2].succeededIndexes: Invalid value: "3": error parsing succeededIndexes: too large index: "3"',
    ],
  ],
] as const) {
  test(`a job ${what} is refused`, () => {
    assert.deepEqual(refusal(job, aJob(spec)), expected);
  });
}

test('an Indexed job with a name too long for its pods is refused', () => {
  const name = 'a'.repeat(62);
  const body = { ...aJob({ completionMode: 'Indexed', completions: 2 }), metadata: { name } };
  assert.deepEqual(refusal(job, body), [`metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-1`]);
});

test('of a job only its pace may change', () => {
  const first = created(job, aJob({ completions: 2 }));
  const spec = first.spec ?? { template: {} };
  const refused = (change: object) => updated(job, first, { ...first, spec: { ...spec, ...change } }).refusal;
  assert.deepEqual(refused({ parallelism: 3, suspend: true, backoffLimit: 1, ttlSecondsAfterFinished: 5, activeDeadlineSeconds: 9 }), []);
  assert.deepEqual(refused({ completions: 3 }), ['spec.completions: Invalid value: 3: field is immutable']);
  const image = { ...spec.template, spec: { ...spec.template.spec, containers: [{ ...spec.template.spec?.containers[0], image: 'web:2' }] } };
  const [problem, ...others] = refused({ template: image });
  assert.match(problem ?? '', /^spec\.template: Invalid value: \{.*"web:2".*\}: field is immutable$/);
  assert.deepEqual(others, []);
  assert.deepEqual(refused({ managedBy: 'acme.io/jobs' }), ['spec.managedBy: Invalid value: "acme.io/jobs": field is immutable']);
});

test('an Indexed job may grow with its pods', () => {
  const first = created(job, aJob({ completionMode: 'Indexed', completions: 2, parallelism: 2 }));
  const refused = (change: object) => updated(job, first, { ...first, spec: { template: {}, ...first.spec, ...change } }).refusal;
  assert.deepEqual(refused({ completions: 3, parallelism: 3 }), []);
  assert.deepEqual(refused({ completions: 3 }), ['spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism']);
});

test('a suspended job that has not begun may be moved', () => {
  const moved = (object: Job): Job => {
    const pods = object.spec?.template ?? {};
    const containers = (pods.spec?.containers ?? []).map((container) => ({ ...container, resources: { limits: { cpu: '2' } } }));
    const metadata = { ...pods.metadata, annotations: { queue: 'a' } };
    return { ...object, spec: { ...object.spec, template: { metadata, spec: { ...pods.spec, containers, nodeSelector: { zone: 'a' } } } } };
  };
  const suspended = created(job, aJob({ suspend: true }));
  assert.deepEqual(updated(job, suspended, moved(suspended)).refusal, []);
  const running = created(job, aJob());
  assert.equal(updated(job, running, moved(running)).refusal.length, 1);
  const begun = { ...suspended, status: started({}) };
  assert.equal(updated(job, begun, moved(begun)).refusal.length, 1);
});

test('the status of a job tells one story', () => {
  const first = { ...created(job, aJob()), status: started({ active: 1, failed: 2 }) };
  const yes = (...types: readonly string[]) => types.map((type) => ({ type, status: 'True' }));
  const done = started({ failed: 2, succeeded: 1, completionTime: '2026-12-02T06:02:00Z', conditions: yes('SuccessCriteriaMet', 'Complete') });
  assert.deepEqual(statusRefusal(job, first, done), []);
  assert.deepEqual(statusRefusal(job, { ...first, status: done }, started({ failed: 1, succeeded: 1 })), [
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    'status.failed: Invalid value: 1: cannot decrease the failed counter',
  ]);
  assert.deepEqual(statusRefusal(job, first, { failed: 2, active: 1, ready: 2, conditions: yes('Failed', 'Complete') }), [
    'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
    'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    'status.completionTime: Required value: completionTime is required for Complete jobs',
    'status.startTime: Required value: startTime cannot be removed for unsuspended job',
    'status.active: Invalid value: 1: active>0 is invalid for finished job',
    'status.startTime: Required value: startTime is required for finished job',
    'status.ready: Invalid value: 2: cannot set more ready pods than active',
  ]);
});

test('index lists of a status are those of the job', () => {
  const first = created(job, aJob({ completionMode: 'Indexed', completions: 4, backoffLimitPerIndex: 1 }));
  assert.deepEqual(statusRefusal(job, first, { completedIndexes: '0-2', failedIndexes: '2,7' }), [
    'status.failedIndexes: Invalid value: "2,7": error parsing failedIndexes: too large index: "7"',
  ]);
  assert.deepEqual(statusRefusal(job, first, { completedIndexes: '0-2', failedIndexes: '2' }), [
    'status.failedIndexes: Invalid value: "2": failedIndexes and completedIndexes overlap at index: 2',
  ]);
  assert.deepEqual(statusRefusal(job, created(job, aJob()), { completedIndexes: '0', failedIndexes: '' }), [
    'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    'status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
  ]);
});

test('the row of a job', () => {
  const object = created(job, aJob({ completions: 3 }));
  const selector = 'batch.kubernetes.io/controller-uid=u1';
  assert.deepEqual(cells(job, object), ['web', 'Running', '0/3', '', '5m', 'main', 'web:1', selector]);
  const conditions = [
    { type: 'SuccessCriteriaMet', status: 'True' },
    { type: 'Complete', status: 'True' },
  ];
  const done = { ...object, status: started({ succeeded: 3, completionTime: '2026-12-02T06:01:42Z', conditions }) };
  assert.deepEqual(cells(job, done).slice(1, 4), ['Complete', '3/3', '42s']);
  const queue = { ...created(job, aJob({ parallelism: 2 })), status: started({}) };
  assert.deepEqual(cells(job, queue).slice(1, 4), ['Running', '0/1 of 2', '4m']);
});

test('a job that is too large to follow is warned about', () => {
  const large = created(job, aJob({ completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 }));
  const [warning] = job.warnings(large, undefined);
  assert.match(warning ?? '', /^spec: In Indexed Jobs with a number of completions higher than 10\^5 and a parallelism higher than 10\^4, /);
});
