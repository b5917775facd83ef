import { column, nameColumn } from '#api/column.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { defineKind } from '#api/kind.ts';
import { labelsText } from '#api/label-selector-print.ts';
import { defaultPodTemplate } from '#api/pod/default-pod-template.ts';
import { containerImages, containerNames } from '#api/pod/template-columns.ts';
import { podTemplateWarnings } from '#api/pod/warnings.ts';
import { validatePodTemplate } from '#api/rules/pod-template.ts';
import type { PodTemplate } from '#api/types/core-v1.ts';

export const podTemplate = defineKind<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  scope: 'Namespaced',
  message: 'core.v1.PodTemplate',
  generation: (next, previous) => !semanticEqual(next.template, previous.template),
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Containers', { description: 'Names of each container in the template.', cell: ({ template }) => containerNames(template) }),
    column('Images', { description: 'Images referenced by each container in the template.', cell: ({ template }) => containerImages(template) }),
    column('Pod Labels', {
      description: 'The labels for the pod template.',
      cell: ({ template }) => labelsText(template?.metadata?.labels) || '<none>',
    }),
  ],
  setDefaults: (object) => ({ ...object, template: defaultPodTemplate(object.template) }),
  warnings: (next, previous) => {
    const isSame = previous !== undefined && next.metadata.generation === previous.metadata.generation;
    return isSame ? [] : podTemplateWarnings(next.template, 'template');
  },
  validate: ({ template }) => validatePodTemplate(template, 'template'),
});
