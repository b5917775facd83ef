import type { NewObject } from '#api/object.ts';
import type { ConfigMap, Namespace } from '#api/types/core-v1.ts';

export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';

const DESCRIPTION = 'kubernetes.io/description';

/** Upstream only asks for some text. */
const description = "The certificate authority of this cluster's API server, for pods that call it.";

export type RootCaPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'create'; readonly object: NewObject<ConfigMap> }
  | { readonly kind: 'update'; readonly object: ConfigMap };

/** What is to be done so that a namespace has the cluster's certificate authority. */
export function planRootCa(namespace: Namespace | undefined, present: ConfigMap | undefined, caPem: string): RootCaPlan {
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return { kind: 'nothing' };
  const data = { 'ca.crt': caPem };
  if (present === undefined) {
    const metadata = { namespace: namespace.metadata.name, name: ROOT_CA_CONFIG_MAP, annotations: { [DESCRIPTION]: description } };
    return { kind: 'create', object: { metadata, data } };
  }
  const isDescribed = (present.metadata.annotations?.[DESCRIPTION] ?? '') !== '';
  const isRight = Object.keys(present.data ?? {}).length === 1 && present.data?.['ca.crt'] === caPem;
  if (isRight && isDescribed) return { kind: 'nothing' };
  const annotations = { ...present.metadata.annotations, ...(isDescribed ? {} : { [DESCRIPTION]: description }) };
  return { kind: 'update', object: { ...present, metadata: { ...present.metadata, annotations }, data } };
}
