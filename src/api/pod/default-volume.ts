import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import type { DownwardAPIVolumeFile, Volume, VolumeProjection } from '#api/types/core-v1.ts';

const mode0644 = 420;

/** What a volume has when it does not say; one without a source is an empty folder. */
export function defaultVolume(volume: Volume): Volume {
  const hasSource = Object.entries(volume).some(([key, value]) => key !== 'name' && value !== undefined);
  if (!hasSource) return { ...volume, emptyDir: {} };
  let result = volume;
  result = changePart(result, 'secret', (secret) => fill(secret, { defaultMode: mode0644 }));
  result = changePart(result, 'configMap', (configMap) => fill(configMap, { defaultMode: mode0644 }));
  result = changePart(result, 'downwardAPI', (source) =>
    changePart(fill(source, { defaultMode: mode0644 }), 'items', (items) => changeItems(items, defaultFile)),
  );
  result = changePart(result, 'projected', (projected) =>
    changePart(fill(projected, { defaultMode: mode0644 }), 'sources', (sources) => changeItems(sources, defaultProjection)),
  );
  result = changePart(result, 'hostPath', (source) => fill(source, { type: '' }));
  result = changePart(result, 'ephemeral', (source) =>
    changePart(source, 'volumeClaimTemplate', (template) => changePart(template, 'spec', (spec) => fill(spec, { volumeMode: 'Filesystem' }))),
  );
  return defaultNetworkVolume(result);
}

function defaultNetworkVolume(volume: Volume): Volume {
  let result = volume;
  result = changePart(result, 'iscsi', (source) => fill(source, { iscsiInterface: 'default' }));
  result = changePart(result, 'rbd', (source) => fill(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }));
  result = changePart(result, 'azureDisk', (source) => fill(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }));
  return changePart(result, 'scaleIO', (source) => fill(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }));
}

function defaultProjection(source: VolumeProjection): VolumeProjection {
  const withToken = changePart(source, 'serviceAccountToken', (token) => fill(token, { expirationSeconds: 3600 }));
  return changePart(withToken, 'downwardAPI', (api) => changePart(api, 'items', (items) => changeItems(items, defaultFile)));
}

function defaultFile(file: DownwardAPIVolumeFile): DownwardAPIVolumeFile {
  return changePart(file, 'fieldRef', (ref) => fill(ref, { apiVersion: 'v1' }));
}
