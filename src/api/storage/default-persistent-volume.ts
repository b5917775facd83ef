import { changePart, fill } from '#api/copy-on-write.ts';
import type { PersistentVolume, PersistentVolumeSpec } from '#api/types/core-v1.ts';

export function defaultPersistentVolume(volume: PersistentVolume): PersistentVolume {
  const withSpec = changePart(fill<PersistentVolume>(volume, { spec: {} }), 'spec', defaultPersistentVolumeSpec);
  return changePart(fill<PersistentVolume>(withSpec, { status: {} }), 'status', (status) => fill(status, { phase: 'Pending' }));
}

/** Also what a VolumeAttachment may carry of a volume without an object of its own. */
export function defaultPersistentVolumeSpec(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  return defaultSource(fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }));
}

function defaultSource(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  let result = changePart(spec, 'hostPath', (source) => (source.type === undefined ? { ...source, type: '' } : source));
  result = changePart(result, 'iscsi', (source) => fill(source, { iscsiInterface: 'default' }));
  result = changePart(result, 'rbd', (source) => fill(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }));
  result = changePart(result, 'azureDisk', (source) => fill(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }));
  return changePart(result, 'scaleIO', (source) => fill(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }));
}
