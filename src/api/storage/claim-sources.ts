import type { PersistentVolumeClaimSpec } from '#api/types/core-v1.ts';

/**
 * `dataSource` and `dataSourceRef` say the same of a new claim. The older of the two takes claims and snapshots only: anything else in it was
 * always left out.
 */
export function withDataSources(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource: given, dataSourceRef: reference, ...others } = spec;
  const isClaim = (given?.apiGroup ?? '') === '' && given?.kind === 'PersistentVolumeClaim';
  const isSnapshot = given?.apiGroup === 'snapshot.storage.k8s.io' && given.kind === 'VolumeSnapshot';
  const source = isClaim || isSnapshot ? given : undefined;
  const isForeign = (reference?.namespace ?? '') !== '';
  if (source !== undefined && reference === undefined) return { ...others, dataSource: source, dataSourceRef: source };
  if (source === undefined && reference !== undefined && !isForeign) {
    const { namespace: _, ...local } = reference;
    return { ...others, dataSource: local, dataSourceRef: reference };
  }
  return { ...others, ...(source === undefined ? {} : { dataSource: source }), ...(reference === undefined ? {} : { dataSourceRef: reference }) };
}
