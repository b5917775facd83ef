import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { validateResourceSlice, validateResourceSliceUpdate } from '#api/rules/devices/slice.ts';
import type { ResourceSlice } from '#api/types/resource-v1.ts';

export const resourceSlice = defineKind<ResourceSlice>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  scope: 'Cluster',
  message: 'resource.v1.ResourceSlice',
  generation: 'spec',
  answersDeleteWithObject: true,
  selectableFields: { 'spec.nodeName': ({ spec }) => spec.nodeName ?? '', 'spec.driver': ({ spec }) => spec.driver },
  columns: [
    nameColumn,
    column('Node', { description: 'The node whose devices they are.', cell: ({ spec }) => spec.nodeName ?? '' }),
    column('Driver', { description: 'Who manages the devices.', cell: ({ spec }) => spec.driver }),
    column('Pool', { description: 'The pool that they are a part of.', cell: ({ spec }) => spec.pool.name }),
    ageColumn,
  ],
  validate: validateResourceSlice,
  validateUpdate: validateResourceSliceUpdate,
});
