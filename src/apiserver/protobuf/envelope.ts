import { BinaryReader } from '@bufbuild/protobuf/wire';
import { InvalidInput, messageOf } from '#base/errors.ts';

/** Every protobuf body begins with these: `k8s` and a zero. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The message of the kind. */
  readonly raw: Uint8Array;
}

/** @throws {InvalidInput} when it is not an enveloped object */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (magic.compare(bytes, 0, magic.length) !== 0) throw new InvalidInput({ message: 'provided data does not appear to be a protobuf message' });
  const found: { apiVersion: string; kind: string; raw: Uint8Array } = { apiVersion: '', kind: '', raw: new Uint8Array() };
  try {
    const reader = new BinaryReader(bytes.subarray(magic.length));
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1) Object.assign(found, readType(reader.bytes()));
      else if (field === 2) found.raw = reader.bytes();
      else reader.skip(wireType);
    }
  } catch (cause) {
    throw new InvalidInput({ message: `the protobuf envelope cannot be read: ${messageOf(cause)}`, cause });
  }
  return found;
}

function readType(bytes: Uint8Array): Pick<Envelope, 'apiVersion' | 'kind'> {
  const reader = new BinaryReader(bytes);
  const type = { apiVersion: '', kind: '' };
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) type.apiVersion = reader.string();
    else if (field === 2) type.kind = reader.string();
    else reader.skip(wireType);
  }
  return type;
}
