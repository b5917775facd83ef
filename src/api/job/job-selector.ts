import type { Job } from '#api/types/batch-v1.ts';

/** Those without a domain are from before names had one. */
export const uidLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid'] as const;
export const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'] as const;
const [, selected] = uidLabels;

/** What the pods of a job are labelled with. */
export function ownLabels({ metadata: { uid, name } }: Job): Readonly<Record<string, string>> {
  return Object.fromEntries([...nameLabels.map((key) => [key, name]), ...uidLabels.map((key) => [key, uid])]);
}

/** The job with a selector that finds its own pods and no others, unless its author has seen to that. What the author set stays. */
export function withSelector(job: Job): Job {
  const { spec } = job;
  if (spec === undefined || spec.manualSelector === true) return job;
  const { template, selector } = spec;
  const labels = { ...ownLabels(job), ...template.metadata?.labels };
  const matchLabels = { [selected]: job.metadata.uid, ...selector?.matchLabels };
  const labelled = { ...template, metadata: { ...template.metadata, labels } };
  return { ...job, spec: { ...spec, selector: { ...selector, matchLabels }, template: labelled } };
}
