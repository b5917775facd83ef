import { hasMessage, schemaOf } from '../message-schema.ts';
import { encodeProtobuf } from './encode.ts';
import { encodeEnvelope } from './envelope.ts';

/**
 * The protobuf form of a whole object, a list or a `Status`, in its envelope.
 *
 * @throws {Error} when there is no message for it
 */
export function encodeObject(object: Readonly<Record<string, unknown>>): Uint8Array {
  const { apiVersion = 'v1', kind } = object; // some documents of discovery have no version
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new Error('an object without its kind has no protobuf form');
  const message = messageOf(apiVersion, kind);
  if (message === undefined) throw new Error(`${apiVersion} ${kind} has no protobuf form`);
  return encodeEnvelope({ apiVersion, kind, raw: encodeProtobuf(schemaOf(message), object), contentType: '' });
}

/** The message of a kind of ours or of upstream's; undefined when its group is another's. */
function messageOf(apiVersion: string, kind: string): string | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (group === '') return [`core.${version}.${kind}`, `meta.${version}.${kind}`].find(hasMessage);
  if (group.includes('.') && !group.endsWith('.k8s.io')) return undefined;
  const name = `${group.split('.')[0]}.${version}.${kind}`;
  return hasMessage(name) ? name : undefined;
}
