import { persistentVolume } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { claimProtection, volumeProtection } from '#api/storage/protection.ts';
import type { AdmissionPlugin } from './admission.ts';

/** A claim stays while pods use it and a volume while it is bound: their controllers take the finalizers off. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate: ({ kind, operation, subresource, object }) => {
    if (operation !== 'CREATE' || subresource !== '') return object;
    const finalizer = kind === persistentVolume ? volumeProtection : kind === persistentVolumeClaim ? claimProtection : undefined;
    const { finalizers = [] } = object.metadata;
    if (finalizer === undefined || finalizers.includes(finalizer)) return object;
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
  },
};
