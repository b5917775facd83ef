import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { replicasScale } from '#api/replicas-scale.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateReplicaPods } from '#api/rules/pod-template.ts';
import {
  isNone,
  podNameWarnings,
  validateAtMost,
  validateAtMostAll,
  validateCollisions,
  validateIntOrPercent,
  validateNonNegatives,
  validateOwnSelector,
} from '#api/rules/workload.ts';
import type { Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy } from '#api/types/apps-v1.ts';

export const deployment = defineKind<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
  message: 'apps.v1.Deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  generation: (next, previous) =>
    !semanticEqual(next.spec, previous.spec) || !semanticEqual(next.metadata.annotations, previous.metadata.annotations),
  subresources: ['status', 'scale'],
  resetFields: { status: ['spec', 'metadata.labels'] },
  scale: replicasScale<Deployment>(),
  columns: [
    nameColumn,
    column('Ready', {
      description: 'Number of the pod with ready state',
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    }),
    column('Up-to-date', {
      description: 'Number of pods that are of the newest template.',
      cell: ({ status }) => status?.updatedReplicas ?? 0,
    }),
    column('Available', {
      description: 'Number of pods that have been ready for long enough.',
      cell: ({ status }) => status?.availableReplicas ?? 0,
    }),
    ageColumn,
    ...templateColumns<Deployment>(({ spec }) => spec?.template),
    selectorColumn<Deployment>(({ spec }) => spec?.selector),
  ],
  setDefaults: (object) => ({ ...object, spec: defaultSpec(specOf(object)) }),
  prepareStatusUpdate: (next, previous) => {
    // Labels belong to whoever writes the object, not to its controller.
    const { labels: _, ...metadata } = next.metadata;
    const { labels } = previous.metadata;
    return { ...next, metadata: labels === undefined ? metadata : { ...metadata, labels } };
  },
  warnings: (next, previous) => {
    if (previous === undefined) return [...podNameWarnings(next.metadata.name), ...podTemplateWarnings(next.spec?.template, 'spec.template')];
    const isChanged = next.metadata.generation !== previous.metadata.generation;
    return isChanged ? podTemplateWarnings(next.spec?.template, 'spec.template') : [];
  },
  validate: (object) => validateSpec(specOf(object), 'spec'),
  validateUpdate: (next, previous) => validateImmutable(next.spec?.selector, previous.spec?.selector, 'spec.selector'),
  validateStatusUpdate: (next, previous) => [
    ...validateStatus(next.status ?? {}),
    ...validateCollisions(next.status?.collisionCount, previous.status?.collisionCount),
  ],
});

/** A client may leave it out; the rules say so to it. */
function specOf({ spec }: Deployment): Partial<DeploymentSpec> {
  return spec ?? {};
}

function defaultSpec(spec: Partial<DeploymentSpec>): DeploymentSpec {
  const filled = fill<Partial<DeploymentSpec>>(spec, { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const withStrategy = changePart(filled, 'strategy', defaultStrategy);
  return { ...withStrategy, template: defaultPodTemplate(spec.template) } as DeploymentSpec; // without a selector it is refused
}

function defaultStrategy(strategy: DeploymentStrategy): DeploymentStrategy {
  const typed = fill<DeploymentStrategy>(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: fill(typed.rollingUpdate ?? {}, { maxUnavailable: '25%', maxSurge: '25%' }) };
}

function validateSpec(spec: Partial<DeploymentSpec>, field: string): readonly FieldProblem[] {
  const { replicas, minReadySeconds, revisionHistoryLimit, progressDeadlineSeconds } = spec;
  const isTooSoon = progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= (minReadySeconds ?? 0);
  return [
    ...validateNonNegatives({ replicas }, field),
    ...validateOwnSelector(spec.selector, 'deployment', `${field}.selector`),
    ...validateReplicaPods(spec, field),
    ...validateStrategy(spec.strategy ?? {}, `${field}.strategy`),
    ...validateNonNegatives({ minReadySeconds, revisionHistoryLimit, progressDeadlineSeconds }, field),
    ...(isTooSoon ? [invalid(`${field}.progressDeadlineSeconds`, progressDeadlineSeconds, 'must be greater than minReadySeconds')] : []),
  ];
}

function validateStrategy({ type, rollingUpdate }: DeploymentStrategy, field: string): readonly FieldProblem[] {
  const at = `${field}.rollingUpdate`;
  switch (type) {
    case 'Recreate':
      return rollingUpdate === undefined ? [] : [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate': {
      if (rollingUpdate === undefined) return [required(at, 'this should be defaulted and never be nil')];
      const { maxUnavailable, maxSurge } = rollingUpdate;
      return [
        ...validateIntOrPercent(maxUnavailable, `${at}.maxUnavailable`),
        ...validateIntOrPercent(maxSurge, `${at}.maxSurge`),
        ...(isNone(maxUnavailable) && isNone(maxSurge) ? [invalid(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
        ...validateAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
      ];
    }
    default:
      // Upstream prints its own form of the strategy.
      return [notSupported(field, { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }, ['Recreate', 'RollingUpdate'])];
  }
}

function validateStatus(status: DeploymentStatus): readonly FieldProblem[] {
  const { observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas, collisionCount } = status;
  const counts = { observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas, collisionCount };
  return [
    ...validateNonNegatives(counts, 'status'),
    ...validateAtMost({ updatedReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas', 'status'),
    ...validateAtMost({ availableReplicas }, readyReplicas, 'readyReplicas', 'status'),
  ];
}
