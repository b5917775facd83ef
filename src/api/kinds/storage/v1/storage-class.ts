import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, notSupported } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { validateParameters, validateProvisioner } from '#api/rules/storage/names.ts';
import { validateTopologies } from '#api/rules/storage/topologies.ts';
import { isDefaultStorageClass } from '#api/storage/class-of.ts';
import type { StorageClass } from '#api/types/storage-v1.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

export const storageClass = defineKind<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  scope: 'Cluster',
  message: 'storage.v1.StorageClass',
  shortNames: ['sc'],
  answersDeleteWithObject: true,
  columns: [
    { ...nameColumn, cell: (object) => (isDefaultStorageClass(object) ? `${object.metadata.name} (default)` : object.metadata.name) },
    column('Provisioner', { description: 'Who makes its volumes.', cell: ({ provisioner }) => provisioner }),
    column('ReclaimPolicy', {
      description: 'What becomes of a volume when its claim is gone.',
      cell: ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    }),
    column('VolumeBindingMode', {
      description: 'Whether a volume is made at once, or when a pod needs it.',
      cell: ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
    }),
    column('AllowVolumeExpansion', {
      description: 'Whether volumes may grow.',
      cell: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    }),
    ageColumn,
  ],
  setDefaults: (storageClass) => fill<StorageClass>(storageClass, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  validate: ({ provisioner = '', parameters = {}, reclaimPolicy = '', volumeBindingMode = '', allowedTopologies = [] }) => [
    ...validateProvisioner(provisioner, 'provisioner'),
    ...validateParameters(parameters, 'parameters'),
    ...(reclaimPolicies.includes(reclaimPolicy) ? [] : [notSupported('reclaimPolicy', reclaimPolicy, reclaimPolicies)]),
    ...(bindingModes.includes(volumeBindingMode) ? [] : [notSupported('volumeBindingMode', volumeBindingMode, bindingModes)]),
    ...validateTopologies(allowedTopologies, 'allowedTopologies'),
  ],
  validateUpdate: (next, previous): readonly FieldProblem[] => {
    const fixed = (['parameters', 'provisioner', 'reclaimPolicy'] as const).filter((key) => !semanticEqual(next[key], previous[key]));
    return [
      ...fixed.map((key) => forbidden(key, `updates to ${key} are forbidden.`)),
      ...validateImmutable(next.volumeBindingMode, previous.volumeBindingMode, 'volumeBindingMode'),
    ];
  },
});
