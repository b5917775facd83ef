import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { ownLabels } from '#api/job/job-selector.ts';
import { labelSelectorMatches } from '#api/selector.ts';
import type { Job, JobSpec } from '#api/types/batch-v1.ts';
import type { Affinity, Container, PodTemplateSpec } from '#api/types/core-v1.ts';
import { validateImmutable } from '../immutable.ts';
import { labelProblems } from '../names.ts';

/** A selector that was made for a job finds that job's pods and no others. */
export function validateGeneratedSelector(job: Job): readonly FieldProblem[] {
  const { selector, manualSelector, template } = job.spec ?? {};
  if (manualSelector === true || selector === undefined) return [];
  const expected = ownLabels(job);
  const labels = template?.metadata?.labels ?? {};
  const missing = Object.entries(expected).flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === undefined) return [required(field, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalid(field, labels, `must be '${value}'`)];
  });
  const isOurs = labelSelectorMatches(selector, expected);
  return isOurs ? missing : [...missing, invalid('spec.selector', selector, '`selector` not auto-generated')];
}

/** An Indexed job's pods are named after it and their index: that must be a host's name. */
export function validateIndexedName({ metadata, spec }: Job): readonly FieldProblem[] {
  const completions = spec?.completions ?? 0;
  if (spec?.completionMode !== 'Indexed' || completions <= 0) return [];
  const longest = `${metadata.name}-${completions - 1}`;
  if (labelProblems(longest).length === 0) return [];
  return [invalid('metadata.name', metadata.name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

/** What of a job stays as it was created. */
export function validateJobUpdate(next: Job, previous: Job): readonly FieldProblem[] {
  const after: Partial<JobSpec> = next.spec ?? {};
  const before: Partial<JobSpec> = previous.spec ?? {};
  const fixed = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const;
  const template = canBeMoved(previous) ? withPlacementOf(before.template ?? {}, after.template ?? {}) : before.template;
  return [
    ...validateCompletions(after, before),
    ...validateImmutable(after.selector, before.selector, 'spec.selector'),
    ...validateImmutable(after.template, template, 'spec.template'),
    ...fixed.flatMap((key) => validateImmutable(after[key], before[key], `spec.${key}`)),
  ];
}

function validateCompletions(after: Partial<JobSpec>, before: Partial<JobSpec>): readonly FieldProblem[] {
  if (after.completionMode !== 'Indexed') return validateImmutable(after.completions, before.completions, 'spec.completions');
  const isSame = after.completions === before.completions || after.completions === undefined;
  if (isSame || after.completions === after.parallelism) return [];
  return [invalid('spec.completions', after.completions, 'can only be modified in tandem with spec.parallelism')];
}

/** Who suspends a job may still say where its pods run and what they need, before they do. */
function canBeMoved({ spec, status }: Job): boolean {
  const isSuspended = status?.conditions?.some(({ type, status: value }) => type === 'Suspended' && value === 'True') === true;
  return spec?.suspend === true && (status?.startTime === undefined || isSuspended);
}

/** The old template with everything that may change as the new one has it. */
function withPlacementOf(old: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const spec = old.spec ?? { containers: [] };
  const { nodeSelector, tolerations, schedulingGates, affinity, containers = [], initContainers = [] } = next.spec ?? {};
  const moved = { nodeSelector, tolerations, schedulingGates, affinity: withNodeAffinityOf(spec.affinity, affinity) };
  return {
    ...old,
    metadata: { ...old.metadata, labels: next.metadata?.labels, annotations: next.metadata?.annotations },
    spec: {
      ...spec,
      ...moved,
      containers: withResourcesOf(spec.containers, containers),
      ...(spec.initContainers === undefined ? {} : { initContainers: withResourcesOf(spec.initContainers, initContainers) }),
    },
  };
}

function withNodeAffinityOf(old: Affinity | undefined, next: Affinity | undefined): Affinity | undefined {
  const merged = { ...old, nodeAffinity: next?.nodeAffinity };
  return next === undefined && semanticEqual(merged, {}) ? undefined : merged;
}

function withResourcesOf(old: readonly Container[], next: readonly Container[]): readonly Container[] {
  return old.map((container, index) => {
    const other = next[index];
    return other?.name === container.name ? { ...container, resources: other.resources } : container;
  });
}
