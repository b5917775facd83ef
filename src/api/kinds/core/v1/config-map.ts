import { ageColumn, column, nameColumn } from '#api/column.ts';
import { deepEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateConfigKeys, validateConfigSize } from '#api/rules/config-data.ts';
import type { ConfigMap } from '#api/types/core-v1.ts';

export const configMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
  message: 'core.v1.ConfigMap',
  shortNames: ['cm'],
  columns: [
    nameColumn,
    column('Data', {
      type: 'integer',
      description: 'Number of keys.',
      cell: ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    }),
    ageColumn,
  ],
  validate: ({ data = {}, binaryData = {} }) => [
    ...validateConfigKeys(data, 'data'),
    ...validateConfigKeys(binaryData, 'binaryData'),
    ...Object.keys(data)
      .filter((key) => Object.hasOwn(binaryData, key))
      .map((key): FieldProblem => ({ type: 'Invalid', field: `data[${key}]`, detail: 'duplicate of key present in binaryData', badValue: key })),
    ...validateConfigSize(Object.values(data), Object.values(binaryData), ''),
  ],
  validateUpdate: (next, previous) => {
    if (previous.immutable !== true) return [];
    const detail = 'field is immutable when `immutable` is set';
    return [
      ...(next.immutable === true ? [] : [forbidden('immutable', detail)]),
      ...(['data', 'binaryData'] as const).filter((key) => !deepEqual(next[key] ?? {}, previous[key] ?? {})).map((key) => forbidden(key, detail)),
    ];
  },
});
