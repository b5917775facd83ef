import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid } from '#api/field-problem.ts';
import type { Affinity, Container, ContainerStatus, NodeAffinity, NodeSelectorTerm, Pod, PodSpec, Toleration } from '#api/types/core-v1.ts';

/** What of a pod's spec may change after it was created: very little. */
export function validatePodUpdate(next: Pod, previous: Pod): readonly FieldProblem[] {
  if (next.spec === undefined || previous.spec === undefined) return [];
  const containers = validateContainerCount(next.spec, previous.spec);
  if (containers.length > 0) return containers; // the rest would only repeat it
  return [
    ...validateDeadline(next.spec, previous.spec),
    ...validateGates(next.spec, previous.spec),
    ...validateTolerations(next.spec.tolerations ?? [], previous.spec.tolerations ?? []),
    ...validateRest(next.spec, previous.spec),
  ];
}

export function validatePodStatusUpdate(next: Pod, previous: Pod): readonly FieldProblem[] {
  const before = previous.status?.qosClass;
  const after = next.status?.qosClass;
  const problems = before === undefined || before === after ? [] : [invalid('status.qosClass', after, 'field is immutable')];
  if (mayRestartAll(previous)) return problems; // the end of one may bring all others back
  const policy = previous.spec?.restartPolicy;
  return [
    ...problems,
    ...validateTermination(
      withoutOwnPolicy(next.status?.containerStatuses, previous.spec?.containers),
      withoutOwnPolicy(previous.status?.containerStatuses, previous.spec?.containers),
      policy,
      'status.containerStatuses',
    ),
    ...validateTermination(
      withoutOwnPolicy(next.status?.initContainerStatuses, previous.spec?.initContainers),
      withoutOwnPolicy(previous.status?.initContainerStatuses, previous.spec?.initContainers),
      policy === 'Always' ? 'OnFailure' : policy, // an init container that is done stays done
      'status.initContainerStatuses',
    ),
  ];
}

function validateContainerCount(next: PodSpec, previous: PodSpec): readonly FieldProblem[] {
  return (['containers', 'initContainers'] as const)
    .filter((key) => (next[key]?.length ?? 0) !== (previous[key]?.length ?? 0))
    .map((key) => forbidden(`spec.${key}`, 'pod updates may not add or remove containers'));
}

function validateDeadline({ activeDeadlineSeconds: next }: PodSpec, { activeDeadlineSeconds: previous }: PodSpec): readonly FieldProblem[] {
  const field = 'spec.activeDeadlineSeconds';
  if (previous === undefined) return [];
  if (next === undefined) return [invalid(field, undefined, 'must not update from a positive integer to nil value')];
  return next > previous ? [invalid(field, next, 'must be less than or equal to previous value')] : [];
}

function validateGates(next: PodSpec, previous: PodSpec): readonly FieldProblem[] {
  const known = new Set((previous.schedulingGates ?? []).map(({ name }) => name));
  return (next.schedulingGates ?? [])
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => forbidden('spec.schedulingGates', `only deletion is allowed, but found new scheduling gate '${name}'`));
}

function validateTolerations(next: readonly Toleration[], previous: readonly Toleration[]): readonly FieldProblem[] {
  const isKept = (toleration: Toleration) =>
    next.some((other) => {
      const { tolerationSeconds: _, ...kept } = other;
      const { tolerationSeconds: __, ...wanted } = toleration;
      return semanticEqual(kept, wanted);
    });
  if (previous.every(isKept)) return [];
  return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function validateRest(next: PodSpec, previous: PodSpec): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if ((previous.schedulingGates ?? []).length > 0) {
    const kept = Object.entries(previous.nodeSelector ?? {}).every(([key, value]) => next.nodeSelector?.[key] === value);
    if (!kept)
      problems.push(
        invalid('spec.nodeSelector', next.nodeSelector ?? {}, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'),
      );
    problems.push(...validateNarrowed(next.affinity?.nodeAffinity, previous.affinity?.nodeAffinity));
  }
  const masked = maskChangeable(next, previous);
  const differences = changedKeys(masked, previous);
  if (differences.length === 0) return problems;
  return [...problems, forbidden('spec', `${changeable}\n${differences.map((key) => `spec.${key} differs`).join('\n')}\n`)];
}

function changedKeys(a: PodSpec, b: PodSpec): readonly string[] {
  const left = new Map<string, unknown>(Object.entries(a));
  const right = new Map<string, unknown>(Object.entries(b));
  // The name of the field goes along: some zeros mean something.
  return [...new Set([...left.keys(), ...right.keys()])].filter((key) => !semanticEqual({ [key]: left.get(key) }, { [key]: right.get(key) }));
}

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,' +
  '`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The new spec with everything that may change put back. */
function maskChangeable(next: PodSpec, previous: PodSpec): PodSpec {
  const isGated = (previous.schedulingGates ?? []).length > 0;
  const { terminationGracePeriodSeconds: grace } = next;
  const wasNegative = (previous.terminationGracePeriodSeconds ?? 0) < 0;
  return {
    ...next,
    containers: sameImages(next.containers, previous.containers) ?? [],
    initContainers: sameImages(next.initContainers, previous.initContainers),
    activeDeadlineSeconds: previous.activeDeadlineSeconds,
    tolerations: previous.tolerations,
    schedulingGates: previous.schedulingGates,
    terminationGracePeriodSeconds: wasNegative && grace === 1 ? previous.terminationGracePeriodSeconds : grace,
    nodeSelector: isGated ? previous.nodeSelector : next.nodeSelector,
    affinity: isGated ? withNodeAffinity(next.affinity, previous.affinity?.nodeAffinity) : next.affinity,
  };
}

function withNodeAffinity({ nodeAffinity: _, ...others }: Affinity = {}, nodeAffinity: NodeAffinity | undefined): Affinity | undefined {
  const affinity = nodeAffinity === undefined ? others : { ...others, nodeAffinity };
  return Object.keys(affinity).length === 0 ? undefined : affinity;
}

/** A gated pod may come to fit fewer nodes, never others. */
function validateNarrowed(next: NodeAffinity | undefined, previous: NodeAffinity | undefined): readonly FieldProblem[] {
  const field = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const before = previous?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const after = next?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return [];
  if (before.length !== after.length) return [invalid(field, after, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  return after.flatMap((term, index) =>
    onlyAdds(term, before[index] ?? {}) ? [] : [invalid(`${field}[${index}]`, term, 'only additions are allowed (no mutations or deletions)')],
  );
}

function onlyAdds(next: NodeSelectorTerm, previous: NodeSelectorTerm): boolean {
  const count = (term: NodeSelectorTerm) => (term.matchExpressions ?? []).length + (term.matchFields ?? []).length;
  if (count(previous) === 0) return count(next) === 0; // a term without requirements fits nothing
  return (['matchExpressions', 'matchFields'] as const).every((part) => {
    const before = previous[part] ?? [];
    return semanticEqual((next[part] ?? []).slice(0, before.length), before);
  });
}

function sameImages(next: readonly Container[] | undefined, previous: readonly Container[] | undefined): readonly Container[] | undefined {
  return next?.map((container, index) => ({ ...container, image: previous?.[index]?.image }));
}

function mayRestartAll({ spec }: Pod): boolean {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return containers.some(({ restartPolicyRules = [] }) => restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'));
}

/** A container that ended for good may not run again. */
function validateTermination(
  next: readonly ContainerStatus[] | undefined,
  previous: readonly ContainerStatus[] | undefined,
  restartPolicy: string | undefined,
  field: string,
): readonly FieldProblem[] {
  if (restartPolicy === undefined || restartPolicy === 'Always') return [];
  return (previous ?? []).flatMap((before) => {
    const ended = before.state?.terminated;
    if (ended === undefined || (ended.exitCode !== 0 && restartPolicy === 'OnFailure')) return [];
    const index = (next ?? []).findIndex(({ name }) => name === before.name);
    const after = next?.[index];
    if (after === undefined || after.state?.terminated !== undefined) return [];
    return [forbidden(`${field}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

/** Sidecars and others with a policy of their own may well run again. */
function withoutOwnPolicy(
  statuses: readonly ContainerStatus[] | undefined,
  containers: readonly Container[] | undefined,
): readonly ContainerStatus[] | undefined {
  const own = new Set((containers ?? []).filter(({ restartPolicy = '' }) => restartPolicy !== '').map(({ name }) => name));
  return statuses?.filter(({ name }) => !own.has(name));
}
