import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import { forbidden } from '#api/status.ts';
import type { Container, Pod, ServiceAccount, Volume, VolumeMount } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { ObjectReader } from '../request/route.ts';
import { type AdmissionPlugin, type AdmissionRequest, newPodOf, shownName } from './admission.ts';

export const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const mirrorAnnotation = 'kubernetes.io/config.mirror';
/** A namespace's own account follows the namespace by a moment. */
const lookups = { count: 10, everyMs: 100 };

export interface ServiceAccountOptions {
  readonly objects: ObjectReader;
  readonly clock: Clock;
  newSuffix(): string;
}

/** Every pod runs as a service account and finds its token, unless it says that it wants none. */
export function createServiceAccountAdmission(options: ServiceAccountOptions): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    mutate: async (request, signal) => {
      const pod = newPodOf(request);
      if (pod === undefined) return request.object;
      if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return checkedMirror(request, pod);
      const name = pod.spec?.serviceAccountName || 'default';
      const account = await findAccount(request.namespace, name, options, signal);
      if (account === undefined) {
        const detail = `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`;
        throw forbidden(request.kind, shownName(request), detail);
      }
      return withAccount(pod, name, account, options.newSuffix());
    },
  };
}

function checkedMirror(request: AdmissionRequest, pod: Pod): Pod {
  if ((pod.spec?.serviceAccountName ?? '') === '') return pod;
  throw forbidden(request.kind, shownName(request), 'a mirror pod may not reference service accounts');
}

async function findAccount(
  namespace: string,
  name: string,
  options: ServiceAccountOptions,
  signal: AbortSignal,
): Promise<ServiceAccount | undefined> {
  const find = () => options.objects.get(serviceAccountKind, namespace, name);
  if (name !== 'default') return find();
  for (let tried = 0; tried < lookups.count && find() === undefined; tried++) await options.clock.sleep(lookups.everyMs, signal);
  return find();
}

/** Pure: the pod as it is stored. @param suffix makes the volume's name unique */
export function withAccount(pod: Pod, name: string, account: ServiceAccount, suffix: string): Pod {
  const spec = pod.spec ?? { containers: [] };
  const secrets = spec.imagePullSecrets ?? [];
  const wantsToken = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  const volume = `kube-api-access-${suffix}`;
  const needsVolume = wantsToken && [...spec.containers, ...(spec.initContainers ?? [])].some((container) => !hasTokenMount(container));
  const mounted = (containers: readonly Container[]) => (needsVolume ? containers.map((container) => withTokenMount(container, volume)) : containers);
  return {
    ...pod,
    spec: {
      ...spec,
      serviceAccountName: name,
      serviceAccount: name,
      ...(secrets.length === 0 && (account.imagePullSecrets ?? []).length > 0 ? { imagePullSecrets: account.imagePullSecrets } : {}),
      ...(needsVolume ? { volumes: [...(spec.volumes ?? []), tokenVolume(volume)] } : {}),
      containers: mounted(spec.containers),
      ...(spec.initContainers === undefined ? {} : { initContainers: mounted(spec.initContainers) }),
    },
  };
}

function hasTokenMount(container: Container): boolean {
  return (container.volumeMounts ?? []).some((mount) => mount.mountPath === tokenMountPath);
}

function withTokenMount(container: Container, volume: string): Container {
  if (hasTokenMount(container)) return container;
  const mount: VolumeMount = { name: volume, readOnly: true, mountPath: tokenMountPath };
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] };
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  };
}
