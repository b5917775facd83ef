import { persistentVolume } from '#api/kinds/core/v1/persistent-volume.ts';
import type { PersistentVolume } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { nowSeconds } from '../verbs/times.ts';
import type { AdmissionPlugin } from './admission.ts';

/** A volume's status says since when it is in its phase, unless whoever writes the phase says so. Upstream's storage of volumes does the same. */
export function createPersistentVolumePhaseTime(clock: Clock): AdmissionPlugin {
  return {
    name: 'PersistentVolumePhaseTime',
    mutate: ({ kind, operation, subresource, object, previous }) => {
      if (kind !== persistentVolume || operation !== 'UPDATE' || subresource !== 'status') return object;
      const { status } = object as PersistentVolume; // the kind's schema has read both
      const before = (previous as PersistentVolume | undefined)?.status;
      const isSaid = status?.lastPhaseTransitionTime !== undefined && status.lastPhaseTransitionTime !== before?.lastPhaseTransitionTime;
      if (status?.phase === before?.phase || isSaid) return object;
      return { ...object, status: { ...status, lastPhaseTransitionTime: nowSeconds(clock) } } as PersistentVolume;
    },
  };
}
