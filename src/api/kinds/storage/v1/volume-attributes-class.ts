import { ageColumn, column, nameColumn } from '#api/column.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { forbidden, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateParameters, validateProvisioner } from '#api/rules/storage/names.ts';
import type { VolumeAttributesClass } from '#api/types/storage-v1.ts';

const defaultAnnotation = 'volumeattributesclass.alpha.kubernetes.io/is-default-class';

export const volumeAttributesClass = defineKind<VolumeAttributesClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  scope: 'Cluster',
  message: 'storage.v1.VolumeAttributesClass',
  shortNames: ['vac'],
  answersDeleteWithObject: true,
  columns: [
    {
      ...nameColumn,
      cell: ({ metadata }) => (metadata.annotations?.[defaultAnnotation] === 'true' ? `${metadata.name} (default)` : metadata.name),
    },
    column('DriverName', { description: 'The driver that knows the attributes.', cell: ({ driverName }) => driverName }),
    ageColumn,
  ],
  validate: ({ driverName = '', parameters = {} }) => [
    ...validateProvisioner(driverName, 'driverName'),
    ...validateParameters(parameters, 'parameters'),
    ...(Object.keys(parameters).length === 0 ? [required('parameters', 'must contain at least one key/value pair')] : []),
  ],
  validateUpdate: (next, previous) =>
    (['driverName', 'parameters'] as const)
      .filter((key) => !semanticEqual(next[key], previous[key]))
      .map((key) => forbidden(key, `updates to ${key} are forbidden.`)),
});
