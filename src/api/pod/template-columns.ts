import { type Column, column } from '#api/column.ts';
import { labelSelectorText } from '#api/label-selector-print.ts';
import type { KubeObject } from '#api/object.ts';
import type { PodTemplateSpec } from '#api/types/core-v1.ts';
import type { LabelSelector } from '#api/types/meta-v1.ts';

type TemplateOf<T extends KubeObject> = (object: T) => PodTemplateSpec | undefined;

/** What `-o wide` adds for what makes pods. */
export function templateColumns<T extends KubeObject>(templateOf: TemplateOf<T>): readonly Column<T>[] {
  return [
    column('Containers', {
      isWide: true,
      description: 'Names of each container in the template.',
      cell: (object) => containerNames(templateOf(object)),
    }),
    column('Images', {
      isWide: true,
      description: 'Images referenced by each container in the template.',
      cell: (object) => containerImages(templateOf(object)),
    }),
  ];
}

export function selectorColumn<T extends KubeObject>(selectorOf: (object: T) => LabelSelector | undefined): Column<T> {
  return column('Selector', {
    isWide: true,
    description: 'Label query over the pods that belong to it.',
    cell: (object) => labelSelectorText(selectorOf(object)) || '<none>',
  });
}

export function containerNames(template: PodTemplateSpec | undefined): string {
  return (template?.spec?.containers ?? []).map(({ name }) => name).join(',');
}

export function containerImages(template: PodTemplateSpec | undefined): string {
  return (template?.spec?.containers ?? []).map(({ image = '' }) => image).join(',');
}
