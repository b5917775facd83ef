import { podTemplateWarnings } from '#api/pod/warnings.ts';
import type { JobSpec } from '#api/types/batch-v1.ts';

const manyCompletions = 100_000;
const manyPods = 10_000;

/** What is allowed in a job but surprises. */
export function jobSpecWarnings(spec: Partial<JobSpec>, field: string): readonly string[] {
  const { completionMode, completions = 0, parallelism = 0, template } = spec;
  const isLarge = completionMode === 'Indexed' && completions > manyCompletions && parallelism > manyPods;
  const text =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, ' +
    'Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [...(isLarge ? [`${field}: ${text}`] : []), ...podTemplateWarnings(template, `${field}.template`)];
}
