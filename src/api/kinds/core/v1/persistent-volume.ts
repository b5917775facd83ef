import { ageColumn, column, nameColumn } from '#api/column.ts';
import { defineKind } from '#api/kind.ts';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from '#api/rules/storage/persistent-volume.ts';
import { warnOfPersistentVolume } from '#api/rules/storage/volume-warnings.ts';
import { accessModesText } from '#api/storage/access-modes.ts';
import { storageClassOf } from '#api/storage/class-of.ts';
import { defaultPersistentVolume } from '#api/storage/default-persistent-volume.ts';
import type { PersistentVolume } from '#api/types/core-v1.ts';

export const persistentVolume = defineKind<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  scope: 'Cluster',
  message: 'core.v1.PersistentVolume',
  shortNames: ['pv'],
  subresources: ['status'],
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Capacity', { description: 'How much the volume holds.', cell: ({ spec }) => spec?.capacity?.['storage'] ?? '0' }),
    column('Access Modes', { description: 'The ways in which it can be mounted.', cell: ({ spec }) => accessModesText(spec?.accessModes) }),
    column('Reclaim Policy', {
      description: 'What becomes of it when its claim is gone.',
      cell: ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    }),
    column('Status', {
      description: 'Whether it is available, bound to a claim or released by one.',
      cell: ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'),
    }),
    column('Claim', {
      description: 'The claim that it is bound to.',
      cell: ({ spec }) => (spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`),
    }),
    column('StorageClass', { description: 'The class that it belongs to.', cell: storageClassOf }),
    column('VolumeAttributesClass', {
      description: 'The class of its attributes.',
      cell: ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    }),
    column('Reason', { description: 'Why it failed, in one word.', cell: ({ status }) => status?.reason ?? '' }),
    ageColumn,
    column('VolumeMode', { isWide: true, description: 'Files or raw blocks.', cell: ({ spec }) => spec?.volumeMode ?? '<unset>' }),
  ],
  setDefaults: defaultPersistentVolume,
  warnings: warnOfPersistentVolume,
  prepareCreate: (volume) => ({ ...volume, status: { phase: 'Pending', lastPhaseTransitionTime: volume.metadata.creationTimestamp } }),
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
});
