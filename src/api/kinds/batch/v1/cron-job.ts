import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { invalid } from '#api/field-problem.ts';
import { age } from '#api/human-duration.ts';
import { defaultJobTemplate } from '#api/job/default-job.ts';
import { jobSpecWarnings } from '#api/job/job-warnings.ts';
import { defineKind } from '#api/kind.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { validateCronJobSpec } from '#api/rules/cron-job.ts';
import { podNameWarnings } from '#api/rules/workload.ts';
import type { CronJob, CronJobSpec } from '#api/types/batch-v1.ts';

/** Names of jobs are labels, and each has the time of its run behind the name of the CronJob. */
const nameMaxLength = 63 - '-1234567890'.length;

/** The field is upstream's word for it. */
const zoneWarning =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, ' +
  'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

export const cronJob = defineKind<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  scope: 'Namespaced',
  message: 'batch.v1.CronJob',
  shortNames: ['cj'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status'],
  columns: [
    nameColumn,
    column('Schedule', { description: 'When it runs.', cell: ({ spec }) => spec.schedule ?? '' }),
    column('Timezone', { description: 'Where it is that time.', cell: ({ spec }) => spec.timeZone ?? '<none>' }),
    column('Suspend', { type: 'boolean', description: 'Whether it is stopped.', cell: ({ spec }) => (spec.suspend === true ? 'True' : 'False') }),
    column('Active', { type: 'integer', description: 'Number of jobs that run.', cell: ({ status }) => status?.active?.length ?? 0 }),
    column('Last Schedule', {
      description: 'Time since it last ran.',
      cell: ({ status }, nowMs) => (status?.lastScheduleTime === undefined ? '<none>' : age(status.lastScheduleTime, nowMs)),
    }),
    ageColumn,
    ...templateColumns<CronJob>(({ spec }) => spec.jobTemplate.spec?.template),
    selectorColumn<CronJob>(({ spec }) => spec.jobTemplate.spec?.selector),
  ],
  setDefaults: (object) => ({ ...object, spec: defaultSpec(object.spec ?? {}) }),
  warnings: (next, previous) => {
    const ofSpec = () => jobSpecWarnings(next.spec.jobTemplate.spec ?? {}, 'spec.jobTemplate.spec');
    if (previous === undefined) return [...podNameWarnings(next.metadata.name), ...ofSpec()];
    const isSame = next.metadata.generation === previous.metadata.generation;
    return [...(isSame ? [] : ofSpec()), ...(next.spec.schedule.includes('TZ') ? [zoneWarning] : [])];
  },
  validateCreate: ({ metadata, spec }) => [
    ...validateCronJobSpec(spec, undefined, 'spec'),
    ...(metadata.name.length > nameMaxLength ? [invalid('metadata.name', metadata.name, `must be no more than ${nameMaxLength} characters`)] : []),
  ],
  validateUpdate: (next, previous) => validateCronJobSpec(next.spec, previous.spec, 'spec'),
});

function defaultSpec(spec: Partial<CronJobSpec>): CronJobSpec {
  const filled = fill<Partial<CronJobSpec>>(spec, {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  return { ...filled, jobTemplate: defaultJobTemplate(spec.jobTemplate) } as CronJobSpec; // without a schedule it is refused
}
