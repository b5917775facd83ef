import { quote } from '#api/quote.ts';
import type { ObjectRefKey, ObjectsPort } from '../../ports/objects.ts';
import type { Payload } from '../atomic-writer.ts';
import { VolumeSetUpFailed } from '../volume-plugin.ts';
import { type KeySelection, keysPayload } from './keys.ts';

export function configMapRef(namespace: string, name: string): ObjectRefKey {
  return `configmap/${namespace}/${name}`;
}

export function secretRef(namespace: string, name: string): ObjectRefKey {
  return `secret/${namespace}/${name}`;
}

/** @throws {VolumeSetUpFailed} when it is not there and not optional */
export async function configMapPayload(
  objects: ObjectsPort,
  namespace: string,
  name: string,
  wish: KeySelection,
  signal: AbortSignal,
): Promise<Payload> {
  const object = await objects.configMap(namespace, name, signal);
  const ref = configMapRef(namespace, name);
  if (object === undefined) return absent('configmap', name, ref, wish);
  const entries = new Map<string, Uint8Array | string>(Object.entries(object.data ?? {}));
  for (const [key, base64] of Object.entries(object.binaryData ?? {})) entries.set(key, Buffer.from(base64, 'base64'));
  return keysPayload({ entries, ref, missingKey: 'configmap references non-existent config key' }, wish);
}

/** @throws {VolumeSetUpFailed} when it is not there and not optional */
export async function secretPayload(
  objects: ObjectsPort,
  namespace: string,
  name: string,
  wish: KeySelection,
  signal: AbortSignal,
): Promise<Payload> {
  const object = await objects.secret(namespace, name, signal);
  const ref = secretRef(namespace, name);
  if (object === undefined) return absent('secret', name, ref, wish);
  const entries = new Map(Object.entries(object.data ?? {}).map(([key, base64]) => [key, Buffer.from(base64, 'base64')] as const));
  return keysPayload({ entries, ref, missingKey: 'references non-existent secret key' }, wish);
}

function absent(kind: string, name: string, ref: ObjectRefKey, { optional }: KeySelection): Payload {
  if (optional) return new Map();
  throw new VolumeSetUpFailed({ message: `${kind} ${quote(name)} not found`, wakeOn: [ref], hint: `create the ${kind} ${name}` });
}
