import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import type { Job, JobSpec, JobTemplateSpec, PodFailurePolicyRule } from '#api/types/batch-v1.ts';

const unlimited = 2 ** 31 - 1;

/** A job with everything written out that its author left to the server, but the selector that is made for it. */
export function defaultJob(job: Job): Job {
  const given: Partial<JobSpec> = job.spec ?? {};
  const isSingle = given.completions === undefined && given.parallelism === undefined;
  const filled = fill<Partial<JobSpec>>(given, {
    parallelism: 1,
    ...(isSingle ? { completions: 1 } : {}),
    backoffLimit: given.backoffLimitPerIndex === undefined ? 6 : unlimited, // each index has its own
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: given.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
  });
  return withTemplateLabels({ ...job, spec: defaultShared(filled, given) });
}

/** A job that is not labelled has the labels of its pods. */
export function withTemplateLabels(job: Job): Job {
  const labels = job.spec?.template.metadata?.labels;
  if (labels === undefined || Object.keys(job.metadata.labels ?? {}).length > 0) return job;
  return { ...job, metadata: { ...job.metadata, labels } };
}

/** In a template of jobs the rest is left to each of its jobs. */
export function defaultJobTemplate(template: JobTemplateSpec | undefined): JobTemplateSpec {
  const spec: Partial<JobSpec> = template?.spec ?? {};
  return { ...template, spec: defaultShared(spec, spec) };
}

function defaultShared(filled: Partial<JobSpec>, given: Partial<JobSpec>): JobSpec {
  const withPolicy = changePart(filled, 'podFailurePolicy', (policy) =>
    changePart(policy, 'rules', (rules) =>
      changeItems(rules, (rule: PodFailurePolicyRule) =>
        changePart(rule, 'onPodConditions', (patterns) => changeItems(patterns, (pattern) => fill(pattern, { status: 'True' }))),
      ),
    ),
  );
  return { ...withPolicy, template: defaultPodTemplate(given.template) };
}
