import { persistentVolumeClaim as claimKind } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { storageClass as storageClassKind } from '#api/kinds/storage/v1/storage-class.ts';
import { betaClassAnnotation, isDefaultStorageClass } from '#api/storage/class-of.ts';
import type { PersistentVolumeClaim } from '#api/types/core-v1.ts';
import type { StorageClass } from '#api/types/storage-v1.ts';
import type { ObjectReader } from '../request/route.ts';
import type { AdmissionPlugin } from './admission.ts';

/** A new claim that names no class is of the default one, if there is one. An empty name is none on purpose. */
export function createDefaultStorageClass(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    mutate: ({ kind, operation, subresource, object }) => {
      if (kind !== claimKind || operation !== 'CREATE' || subresource !== '') return object;
      const claim = object as PersistentVolumeClaim; // the kind's schema has read it
      const hasClass = claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[betaClassAnnotation] !== undefined;
      const found = hasClass ? undefined : newestDefault(objects.list(storageClassKind));
      if (found === undefined) return claim;
      return { ...claim, spec: { ...claim.spec, storageClassName: found.metadata.name } } as PersistentVolumeClaim;
    },
  };
}

/** Of several the youngest; of the same age the first by name. */
function newestDefault(classes: readonly StorageClass[]): StorageClass | undefined {
  const age = ({ metadata }: StorageClass) => metadata.creationTimestamp;
  return classes
    .filter(isDefaultStorageClass)
    .sort((a, b) => (age(a) === age(b) ? compare(a.metadata.name, b.metadata.name) : compare(age(b), age(a))))[0];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
