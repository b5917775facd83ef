import { configMap } from '#api/kinds/core/v1/config-map.ts';
import type { TlsSettings } from '../https-entrance.ts';
import type { ServerContext } from '../request/context.ts';
import { ensureObject } from './ensure-object.ts';

type Authorities = Pick<TlsSettings, 'clientCa' | 'proxyCa' | 'proxyNames'>;

/** Tells other API servers whose certificates they may believe: the ConfigMap that upstream's libraries look for. */
export async function publishAuthentication(context: ServerContext, authorities: Authorities, signal: AbortSignal): Promise<void> {
  const place = { kind: configMap, namespace: 'kube-system', name: 'extension-apiserver-authentication', labels: {} };
  await ensureObject(context, { ...place, fields: { data: dataOf(authorities) } }, signal);
}

function dataOf({ clientCa, proxyCa, proxyNames }: Authorities): Readonly<Record<string, string>> {
  if (proxyCa === undefined) return { 'client-ca-file': clientCa };
  return {
    'client-ca-file': clientCa,
    'requestheader-client-ca-file': proxyCa,
    'requestheader-allowed-names': JSON.stringify(proxyNames ?? []),
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  };
}
