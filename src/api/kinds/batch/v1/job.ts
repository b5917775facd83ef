import { ageColumn, column, nameColumn } from '#api/column.ts';
import { humanDuration } from '#api/human-duration.ts';
import { defaultJob, withTemplateLabels } from '#api/job/default-job.ts';
import { withSelector } from '#api/job/job-selector.ts';
import { jobSpecWarnings } from '#api/job/job-warnings.ts';
import { defineKind } from '#api/kind.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { validateJobSpec } from '#api/rules/job/job-spec.ts';
import { hasCondition, validateJobStatus } from '#api/rules/job/job-status.ts';
import { validateGeneratedSelector, validateIndexedName, validateJobUpdate } from '#api/rules/job/job-update.ts';
import { podNameWarnings } from '#api/rules/workload.ts';
import type { Job } from '#api/types/batch-v1.ts';

export const job = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
  message: 'batch.v1.Job',
  categories: ['all'],
  generation: 'spec',
  subresources: ['status'],
  defaultPropagation: 'Orphan', // as it was before there was a collector of garbage
  defaultPropagationWarning:
    'child pods are preserved by default when jobs are deleted; ' +
    'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  columns: [
    nameColumn,
    column('Status', { description: 'Where the job stands.', cell: statusText }),
    column('Completions', { description: 'How many pods have succeeded, of how many.', cell: completionsText }),
    column('Duration', { description: 'How long the job has run.', cell: durationText }),
    ageColumn,
    ...templateColumns<Job>(({ spec }) => spec?.template),
    selectorColumn<Job>(({ spec }) => spec?.selector),
  ],
  setDefaults: defaultJob,
  prepareCreate: (object) => withTemplateLabels(withSelector(object)),
  warnings: (next, previous) => {
    const ofSpec = () => jobSpecWarnings(next.spec ?? {}, 'spec');
    if (previous === undefined) return [...podNameWarnings(next.metadata.name), ...ofSpec()];
    return next.metadata.generation === previous.metadata.generation ? [] : ofSpec();
  },
  validate: (object) => [...validateGeneratedSelector(object), ...validateJobSpec(object.spec ?? {}, 'spec'), ...validateIndexedName(object)],
  validateUpdate: validateJobUpdate,
  validateStatusUpdate: validateJobStatus,
});

function statusText({ metadata, status }: Job): string {
  if (hasCondition(status, 'Complete')) return 'Complete';
  if (hasCondition(status, 'Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(status, type)) ?? 'Running';
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Job, nowMs: number): string {
  if (status?.startTime === undefined) return '';
  const endMs = status.completionTime === undefined ? nowMs : Date.parse(status.completionTime);
  return humanDuration(endMs - Date.parse(status.startTime));
}
