import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart, fill } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { validateClaim, validateClaimStatusUpdate, validateClaimUpdate } from '#api/rules/storage/claim.ts';
import { warnOfPersistentVolumeClaim } from '#api/rules/storage/volume-warnings.ts';
import { accessModesText } from '#api/storage/access-modes.ts';
import { withDataSources } from '#api/storage/claim-sources.ts';
import { storageClassOf } from '#api/storage/class-of.ts';
import type { PersistentVolumeClaim } from '#api/types/core-v1.ts';

export const persistentVolumeClaim = defineKind<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  scope: 'Namespaced',
  message: 'core.v1.PersistentVolumeClaim',
  shortNames: ['pvc'],
  subresources: ['status'],
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Status', {
      description: 'Whether it waits for a volume, is bound to one or has lost it.',
      cell: ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    }),
    column('Volume', { description: 'The volume that it is bound to.', cell: ({ spec }) => spec?.volumeName ?? '' }),
    column('Capacity', {
      description: 'How much the volume holds.',
      cell: (claim) => (isBound(claim) ? (claim.status?.capacity?.['storage'] ?? '0') : ''),
    }),
    column('Access Modes', {
      description: 'The ways in which the volume can be mounted.',
      cell: (claim) => (isBound(claim) ? accessModesText(claim.status?.accessModes) : ''),
    }),
    column('StorageClass', { description: 'The class that the volume is to be of.', cell: storageClassOf }),
    column('VolumeAttributesClass', {
      description: 'The class of its attributes.',
      cell: ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    }),
    ageColumn,
    column('VolumeMode', { isWide: true, description: 'Files or raw blocks.', cell: ({ spec }) => spec?.volumeMode ?? '<unset>' }),
  ],
  setDefaults: (claim) => {
    const withSpec = changePart(fill<PersistentVolumeClaim>(claim, { spec: {} }), 'spec', (spec) => fill(spec, { volumeMode: 'Filesystem' }));
    return changePart(fill<PersistentVolumeClaim>(withSpec, { status: {} }), 'status', (status) => fill(status, { phase: 'Pending' }));
  },
  warnings: warnOfPersistentVolumeClaim,
  prepareCreate: (claim) => ({ ...changePart(claim, 'spec', withDataSources), status: { phase: 'Pending' } }),
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  validateStatusUpdate: validateClaimStatusUpdate,
});

function isBound({ spec }: PersistentVolumeClaim): boolean {
  return (spec?.volumeName ?? '') !== '';
}
