import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { InvalidInput } from '#base/errors.ts';

/** `k8s` and a zero byte: what every protobuf body starts with. */
const magic = new Uint8Array([0x6b, 0x38, 0x73, 0x00]);

/** A protobuf body: which kind it is, and its message. */
export interface Envelope {
  /** '' where the sender leaves it to the address that it sends to. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  /** '' for protobuf; else the media type of `raw`. */
  readonly contentType: string;
}

export function isEnvelope(bytes: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/** @throws {InvalidInput} when the bytes are no envelope */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes)) {
    throw new InvalidInput({ message: 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]' });
  }
  try {
    const parts = readParts(bytes.subarray(magic.length));
    const typeMeta = readParts(parts.get(1) ?? new Uint8Array());
    const textOf = (part: Uint8Array | undefined) => new TextDecoder().decode(part);
    return {
      apiVersion: textOf(typeMeta.get(1)),
      kind: textOf(typeMeta.get(2)),
      raw: parts.get(2) ?? new Uint8Array(),
      contentType: textOf(parts.get(4)),
    };
  } catch (cause) {
    throw new InvalidInput({ message: 'the body is no protobuf envelope', cause });
  }
}

/** Fields of `runtime.Unknown`: 1 type meta (1 apiVersion, 2 kind), 2 raw, 3 content encoding, 4 content type. */
export function encodeEnvelope({ apiVersion, kind, raw, contentType }: Envelope): Uint8Array {
  const out = new BinaryWriter();
  out.raw(magic);
  out.tag(1, 2).fork().tag(1, 2).string(apiVersion).tag(2, 2).string(kind).join();
  out.tag(2, 2).bytes(raw);
  out.tag(3, 2).string('');
  out.tag(4, 2).string(contentType);
  return out.finish();
}

function readParts(bytes: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const reader = new BinaryReader(bytes);
  const parts = new Map<number, Uint8Array>();
  while (reader.pos < reader.len) {
    const [number] = reader.tag();
    parts.set(number, reader.bytes());
  }
  return parts;
}
