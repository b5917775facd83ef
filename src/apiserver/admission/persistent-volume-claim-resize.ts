import { persistentVolumeClaim as claimKind } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { storageClass as storageClassKind } from '#api/kinds/storage/v1/storage-class.ts';
import { compareQuantities } from '#api/quantity.ts';
import { forbidden } from '#api/status.ts';
import { storageClassOf } from '#api/storage/class-of.ts';
import type { PersistentVolumeClaim } from '#api/types/core-v1.ts';
import type { ObjectReader } from '../request/route.ts';
import { type AdmissionPlugin, shownName } from './admission.ts';

/** A claim may grow once it is bound, and where its class says so. */
export function createPersistentVolumeClaimResize(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    validate: (request) => {
      const { kind, operation, subresource, object, previous } = request;
      if (kind !== claimKind || operation !== 'UPDATE' || subresource !== '' || previous === undefined) return;
      const [after, before] = [object as PersistentVolumeClaim, previous as PersistentVolumeClaim]; // the kind's schema has read them
      if (compareQuantities(sizeOf(after), sizeOf(before)) <= 0) return;
      if (before.status?.phase !== 'Bound') throw forbidden(kind, shownName(request), 'Only bound persistent volume claims can be expanded');
      const name = storageClassOf(before);
      const isSame = name !== '' && storageClassOf(after) === name;
      if (isSame && objects.get(storageClassKind, '', name)?.allowVolumeExpansion === true) return;
      const detail = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
      throw forbidden(kind, shownName(request), detail);
    },
  };
}

function sizeOf({ spec }: PersistentVolumeClaim): string {
  return spec?.resources?.requests?.['storage'] ?? '0';
}
