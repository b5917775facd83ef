import { messageOfKind } from '../message-of-kind.ts';
import { schemaOf } from '../message-schema.ts';
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
  const message = messageOfKind(apiVersion, kind);
  if (message === undefined) throw new Error(`${apiVersion} ${kind} has no protobuf form`);
  return encodeEnvelope({ apiVersion, kind, raw: encodeProtobuf(schemaOf(message), object), contentType: '' });
}
