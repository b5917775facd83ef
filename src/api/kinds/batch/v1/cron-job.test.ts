import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells, created, refusal, updated } from '#api/testing/kind-objects.ts';
import { aCronJob, template } from '#api/testing/workloads.ts';
import { cronJob } from './cron-job.ts';

test('a CronJob is stored with its defaults, what its jobs leave out is left to them', () => {
  const { metadata, spec, status } = created(cronJob, aCronJob());
  const { jobTemplate, ...rest } = spec;
  assert.deepEqual([metadata.generation, status], [1, {}]);
  assert.deepEqual(rest, {
    schedule: '*/5 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  assert.deepEqual(Object.keys(jobTemplate.spec ?? {}), ['template']);
  assert.equal(jobTemplate.spec?.template.spec?.dnsPolicy, 'ClusterFirst');
});

test('a schedule may have a question mark, and a zone beside it', () => {
  assert.deepEqual(refusal(cronJob, aCronJob({ schedule: '0 0 ? * *' })), []);
  for (const timeZone of ['Europe/Paris', 'US/Eastern', 'Etc/UTC', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'UTC']) {
    assert.deepEqual(refusal(cronJob, aCronJob({ timeZone })), [], timeZone);
  }
});

for (const [what, spec, expected] of [
  ['without a schedule', { schedule: undefined }, ['spec.schedule: Required value']],
  ['never', { schedule: 'never' }, ['spec.schedule: Invalid value: "never": expected exactly 5 fields, found 1: [never]']],
  [
    'somewhere',
    { schedule: 'TZ=Europe/Paris 0 * * * *' },
    ['spec.schedule: Invalid value: "TZ=Europe/Paris 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
  ],
  ['on the moon', { timeZone: 'Luna/Apollo' }, ['spec.timeZone: Invalid value: "Luna/Apollo": unknown time zone Luna/Apollo']],
  ['in small letters', { timeZone: 'europe/paris' }, ['spec.timeZone: Invalid value: "europe/paris": unknown time zone europe/paris']],
  ['out of the folder', { timeZone: '../Paris' }, ['spec.timeZone: Invalid value: "../Paris": unknown time zone ../Paris']],
  ['at no place', { timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
  [
    'where the server is',
    { timeZone: 'Local' },
    ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
  ],
  [
    'with a policy of its own',
    { concurrencyPolicy: 'Queue' },
    ['spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    'with negative numbers',
    { startingDeadlineSeconds: -1, failedJobsHistoryLimit: -1 },
    [
      'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    'of jobs that select by hand',
    { jobTemplate: { spec: { template: template(), manualSelector: true, selector: { matchLabels: { app: 'web' } } } } },
    [
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
] as const) {
  test(`a CronJob ${what} is refused`, () => {
    assert.deepEqual(refusal(cronJob, aCronJob(spec)), expected);
  });
}

test('the name of a CronJob leaves room for the time of its jobs', () => {
  const name = 'a'.repeat(53);
  assert.deepEqual(refusal(cronJob, { ...aCronJob(), metadata: { name } }), [
    `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
  ]);
});

test('a zone in the schedule from before may stay, but not beside another', () => {
  const old = created(cronJob, aCronJob({ schedule: 'CRON_TZ=Europe/Paris 0 * * * *' }));
  const refused = (spec: object) => updated(cronJob, old, { ...old, spec: { ...old.spec, ...spec } }).refusal;
  assert.deepEqual(refused({ suspend: true }), []);
  assert.deepEqual(cronJob.warnings(old, old), [
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, ' +
      'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ]);
  assert.deepEqual(refused({ timeZone: 'Etc/UTC' }), [
    'spec.schedule: Invalid value: "CRON_TZ=Europe/Paris 0 * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
  ]);
  assert.deepEqual(refused({ schedule: 'TZ=Nowhere 0 * * * *' }), [
    'spec.schedule: Invalid value: "TZ=Nowhere 0 * * * *": provided bad location Nowhere: unknown time zone Nowhere',
  ]);
});

test('the row of a CronJob', () => {
  const object = created(cronJob, aCronJob({ suspend: true, timeZone: 'Etc/UTC' }));
  const status = { active: [{ name: 'web-1' }], lastScheduleTime: '2026-12-02T06:04:00Z' };
  assert.deepEqual(cells(cronJob, { ...object, status }), ['web', '*/5 * * * *', 'Etc/UTC', 'True', 1, '60s', '5m', 'main', 'web:1', '<none>']);
  assert.deepEqual(cells(cronJob, created(cronJob, aCronJob())).slice(2, 6), ['<none>', 'False', 0, '<none>']);
});
