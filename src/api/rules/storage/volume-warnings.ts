import { parseQuantity } from '#api/quantity.ts';
import { quote } from '#api/quote.ts';
import { betaClassAnnotation } from '#api/storage/class-of.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '#api/types/core-v1.ts';

const nano = 1_000_000_000n;

const oldAnnotations: Readonly<Record<string, string>> = {
  [betaClassAnnotation]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};

const oldSources: Readonly<Record<string, string>> = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

export function warnOfPersistentVolume({ metadata, spec = {} }: PersistentVolume): readonly string[] {
  const { annotations = {} } = metadata;
  const sources = new Map<string, unknown>(Object.entries(spec));
  return [
    ...Object.entries(oldAnnotations).flatMap(([key, text]) => (Object.hasOwn(annotations, key) ? [`metadata.annotations[${key}]: ${text}`] : [])),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic ' +
            'provisioning.',
        ]
      : []),
    ...Object.entries(oldSources).flatMap(([name, text]) => (sources.get(name) === undefined ? [] : [`spec.${name}: ${text}`])),
    ...warnOfFraction(spec.capacity?.['storage'], 'spec.capacity[storage]'),
  ];
}

export function warnOfPersistentVolumeClaim({ spec }: PersistentVolumeClaim): readonly string[] {
  return warnOfFraction(spec?.resources?.requests?.['storage'], 'spec.resources.requests[storage]');
}

function warnOfFraction(amount: string | undefined, field: string): readonly string[] {
  if (amount === undefined || parseQuantity(amount).nanos % nano === 0n) return [];
  return [`${field}: fractional byte value ${quote(amount)} is invalid, must be an integer`];
}
