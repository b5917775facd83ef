import { aConfigMap, aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod, PodSpec, Volume } from '#api/types/core-v1.ts';
import { MEMORY, ROOT, type VolumeHost } from './volume-host.ts';

export const PODS = `${ROOT}/pods/u1`;

/** A pod whose one container mounts every volume. */
export function podWith(volumes: readonly Volume[], spec: DeepPartial<PodSpec> = {}, labels: Readonly<Record<string, string>> = {}): Pod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` }));
  return aPod({ metadata: { uid: 'u1', labels }, spec: { containers: [aContainer({ volumeMounts })], volumes, ...spec } });
}

export const settings: Volume = { name: 'conf', configMap: { name: 'settings' } };
export const secret: Volume = { name: 'sec', secret: { secretName: 'secret', defaultMode: 0o400 } };
export const access: Volume = {
  name: 'access',
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};
export const rootCa = aConfigMap({ metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': 'PEM' } });

/** Everything of the pod that is on the node. */
export async function remains(host: VolumeHost): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const walk = async (path: string): Promise<readonly string[]> => {
    const below = await Promise.all(
      (await host.files.list(path, signal)).map(({ name, kind }) => (kind === 'directory' ? walk(`${path}/${name}`) : [`${path}/${name}`])),
    );
    return [path, ...below.flat()];
  };
  const found = (await Promise.all([`${ROOT}/pods`, MEMORY].map(walk))).flat().filter((path) => path.includes('u1/') || path.endsWith('memory/u1'));
  return [...found, ...(await host.mounter.listBelow('/', signal)).map(({ target }) => `mount ${target}`)];
}
