import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { type FieldProblem, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { labelsText } from '#api/label-selector-print.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { selectorColumn, templateColumns } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { validateLastingPods, validatePodTemplate } from '#api/rules/pod-template.ts';
import { podNameWarnings, validateAtMost, validateNonNegatives, validateSelected } from '#api/rules/workload.ts';
import type { ReplicationController, ReplicationControllerSpec, ReplicationControllerStatus } from '#api/types/core-v1.ts';

/** Always said, zero or not. */
const noPods: ReplicationControllerStatus = { replicas: 0 };

export const replicationController = defineKind<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  scope: 'Namespaced',
  message: 'core.v1.ReplicationController',
  shortNames: ['rc'],
  categories: ['all'],
  generation: 'spec',
  subresources: ['status', 'scale'],
  storagePrefix: 'controllers', // there were no others when it was named
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  scale: {
    read: ({ spec, status }) => ({
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: labelsText(spec?.selector),
    }),
    write: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
  },
  columns: [
    nameColumn,
    column('Desired', { type: 'integer', description: 'Number of pods that are wanted.', cell: ({ spec }) => spec?.replicas ?? 0 }),
    column('Current', { type: 'integer', description: 'Number of pods that there are.', cell: ({ status }) => status?.replicas ?? 0 }),
    column('Ready', { type: 'integer', description: 'Number of pods that are ready.', cell: ({ status }) => status?.readyReplicas ?? 0 }),
    ageColumn,
    ...templateColumns<ReplicationController>(({ spec }) => spec?.template),
    selectorColumn<ReplicationController>(({ spec }) => ({ matchLabels: spec?.selector })),
  ],
  setDefaults: withDefaults,
  prepareCreate: (object) => ({ ...object, status: noPods }),
  prepareStatusUpdate: (next) => ({ ...next, status: fill(next.status ?? noPods, noPods) }),
  warnings: (next, previous) => {
    const ofTemplate = () => podTemplateWarnings(next.spec?.template, 'spec.template');
    if (previous === undefined) return [...podNameWarnings(next.metadata.name), ...ofTemplate()];
    return next.metadata.generation === previous.metadata.generation ? [] : ofTemplate();
  },
  validate: ({ spec }) => validateSpec(spec ?? {}, 'spec'),
  validateStatusUpdate: ({ status }) => {
    const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration } = status ?? noPods;
    return [
      ...validateNonNegatives({ replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, observedGeneration }, 'status'),
      ...validateAtMost({ fullyLabeledReplicas, readyReplicas, availableReplicas }, replicas, 'status.replicas', 'status'),
      ...validateAtMost({ availableReplicas }, readyReplicas, 'readyReplicas', 'status'),
    ];
  },
});

/** A controller that does not say what it selects, or how it is labelled, takes that from its pods. */
function withDefaults(object: ReplicationController): ReplicationController {
  const given = object.spec ?? {};
  const labels = given.template?.metadata?.labels;
  const hasSelector = Object.keys(given.selector ?? {}).length > 0;
  const hasLabels = Object.keys(object.metadata.labels ?? {}).length > 0;
  const filled = changePart(fill<ReplicationControllerSpec>(given, { replicas: 1 }), 'template', defaultPodTemplate);
  return {
    ...object,
    metadata: hasLabels || labels === undefined ? object.metadata : { ...object.metadata, labels },
    spec: hasSelector || labels === undefined ? filled : { ...filled, selector: labels },
  };
}

function validateSpec(spec: ReplicationControllerSpec, field: string): readonly FieldProblem[] {
  const { replicas, minReadySeconds, selector = {}, template } = spec;
  const at = `${field}.template`;
  return [
    ...validateNonNegatives({ minReadySeconds }, field),
    ...(Object.keys(selector).length === 0 ? [required(`${field}.selector`)] : []),
    ...validateNonNegatives({ replicas }, field),
    ...(template === undefined
      ? [required(at)]
      : [
          ...validateSelected({ matchLabels: selector }, template, at),
          ...validatePodTemplate(template, at),
          ...validateLastingPods(template, 'ReplicationController', at),
        ]),
  ];
}
