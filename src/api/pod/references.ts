import type { Container, PersistentVolume, Pod, Volume } from '#api/types/core-v1.ts';

/** The objects of its namespace that a pod names. */
export interface PodReferences {
  /** '' for none. */
  readonly serviceAccount: string;
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
  /** With those that are made for its ephemeral volumes. */
  readonly claims: readonly string[];
  readonly resourceClaims: readonly string[];
}

export function podReferences(pod: Pod): PodReferences {
  const { spec, status, metadata } = pod;
  const containers: readonly Container[] = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
  const volumes = spec?.volumes ?? [];
  return {
    serviceAccount: spec?.serviceAccountName ?? '',
    secrets: distinct([
      ...(spec?.imagePullSecrets ?? []).map(({ name }) => name),
      ...volumes.flatMap(secretsOfVolume),
      ...containers.flatMap(({ envFrom = [], env = [] }) => [
        ...envFrom.map(({ secretRef }) => secretRef?.name),
        ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ]),
    ]),
    configMaps: distinct([
      ...volumes.flatMap(({ configMap, projected }) => [configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name)]),
      ...containers.flatMap(({ envFrom = [], env = [] }) => [
        ...envFrom.map(({ configMapRef }) => configMapRef?.name),
        ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ]),
    ]),
    claims: distinct(
      volumes.map((volume) => volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral === undefined ? '' : `${metadata.name}-${volume.name}`)),
    ),
    resourceClaims: distinct([
      ...(spec?.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
      ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
      status?.extendedResourceClaimStatus?.resourceClaimName,
    ]),
  };
}

/** The first kind of object of the API that a pod needs, in upstream's words; undefined when it needs none. */
export function firstReference(pod: Pod): string | undefined {
  const { serviceAccount, secrets, configMaps } = podReferences(pod);
  if (serviceAccount !== '') return 'serviceaccounts';
  if (secrets.length > 0) return 'secrets';
  if (configMaps.length > 0) return 'configmaps';
  if ((pod.spec?.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const { persistentVolumeClaim, ephemeral, azureFile, csi, glusterfs, projected } of pod.spec?.volumes ?? []) {
    if (persistentVolumeClaim !== undefined) return 'persistentvolumeclaims';
    if (ephemeral !== undefined) return 'persistentvolumeclaims (via ephemeral volumes)';
    if (azureFile !== undefined) return 'secrets (via azureFile volumes)';
    if (csi !== undefined) return 'csidrivers (via CSI volumes)';
    if (glusterfs !== undefined) return 'endpoints (via glusterFS volumes)';
    for (const source of projected?.sources ?? []) {
      if (source.serviceAccountToken !== undefined) return 'serviceaccounts (via projected volumes)';
      if (source.clusterTrustBundle !== undefined) return 'clustertrustbundles';
      if (source.podCertificate !== undefined) return 'podcertificates';
    }
  }
  return undefined;
}

function secretsOfVolume(volume: Volume): readonly (string | undefined)[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, secret, scaleIO, iscsi, storageos, csi, projected } = volume;
  return [
    azureFile?.secretName,
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name),
    csi?.nodePublishSecretRef?.name,
    secret?.secretName,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
  ];
}

/** The secrets of a volume that a kubelet reads; those for a controller are left out. Keys `namespace/name`. */
export function volumeSecretsForKubelet({ spec }: PersistentVolume): readonly string[] {
  const own = spec?.claimRef?.namespace ?? '';
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec ?? {};
  const references = [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef);
  return distinct([
    azureFile === undefined ? '' : `${azureFile.secretNamespace ?? own}/${azureFile.secretName}`,
    ...[...references, csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef].map((reference) =>
      (reference?.name ?? '') === '' ? '' : `${reference?.namespace ?? own}/${reference?.name}`,
    ),
  ]);
}

function distinct(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as readonly string[]; // the filter leaves texts only
}
