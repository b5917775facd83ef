import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import type { FieldProblem } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { replicasScale } from '#api/replicas-scale.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateReplicaPods } from '#api/rules/pod-template.ts';
import { podNameWarnings, validateAtMost, validateNonNegatives, validateOwnSelector } from '#api/rules/workload.ts';
import type { ReplicaSet, ReplicaSetSpec, ReplicaSetStatus } from '#api/types/apps-v1.ts';

/** Always said, zero or not. */
const noPods: ReplicaSetStatus = { replicas: 0 };

export const replicaSet = defineKind<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  scope: 'Namespaced',
  message: 'apps.v1.ReplicaSet',
  shortNames: ['rs'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status', 'scale'],
  scale: replicasScale<ReplicaSet>(),
  columns: [
    nameColumn,
    column('Desired', { type: 'integer', description: 'Number of pods that are wanted.', cell: ({ spec }) => spec?.replicas ?? 0 }),
    column('Current', { type: 'integer', description: 'Number of pods that there are.', cell: ({ status }) => status?.replicas ?? 0 }),
    column('Ready', { type: 'integer', description: 'Number of pods that are ready.', cell: ({ status }) => status?.readyReplicas ?? 0 }),
    ageColumn,
    ...templateColumns<ReplicaSet>(({ spec }) => spec?.template),
    selectorColumn<ReplicaSet>(({ spec }) => spec?.selector),
  ],
  setDefaults: (object) => ({ ...object, spec: defaultSpec(specOf(object)) }),
  prepareCreate: (object) => ({ ...object, status: noPods }),
  prepareStatusUpdate: (next) => ({ ...next, status: fill(next.status ?? noPods, noPods) }),
  warnings: (next, previous) => {
    if (previous === undefined) return [...podNameWarnings(next.metadata.name), ...podTemplateWarnings(next.spec?.template, 'spec.template')];
    const isChanged = next.metadata.generation !== previous.metadata.generation;
    return isChanged ? podTemplateWarnings(next.spec?.template, 'spec.template') : [];
  },
  validate: (object) => validateSpec(specOf(object), 'spec'),
  validateUpdate: (next, previous) => validateImmutable(next.spec?.selector, previous.spec?.selector, 'spec.selector'),
  validateStatusUpdate: (next) => validateStatus(next.status ?? noPods),
});

/** A client may leave it out; the rules say so to it. */
function specOf({ spec }: ReplicaSet): Partial<ReplicaSetSpec> {
  return spec ?? {};
}

function defaultSpec(spec: Partial<ReplicaSetSpec>): ReplicaSetSpec {
  const filled = fill<Partial<ReplicaSetSpec>>(spec, { replicas: 1 });
  return { ...filled, template: defaultPodTemplate(spec.template) } as ReplicaSetSpec; // without a selector it is refused
}

function validateSpec(spec: Partial<ReplicaSetSpec>, field: string): readonly FieldProblem[] {
  const { replicas, minReadySeconds } = spec;
  return [
    ...validateNonNegatives({ replicas, minReadySeconds }, field),
    ...validateOwnSelector(spec.selector, 'deployment', `${field}.selector`), // upstream's word for both
    ...validateReplicaPods(spec, field),
  ];
}

function validateStatus(status: ReplicaSetStatus): readonly FieldProblem[] {
  const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration } = status;
  return [
    ...validateNonNegatives({ replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration }, 'status'),
    ...validateAtMost({ fullyLabeledReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas', 'status'),
    ...validateAtMost({ availableReplicas }, readyReplicas, 'readyReplicas', 'status'),
  ];
}
