import { BinaryWriter } from '@bufbuild/protobuf/wire';

/**
 * One event of a watch in protobuf: four bytes of length, then a `meta.v1.WatchEvent`, which has no envelope; the object in it has one.
 *
 * @param object as `encodeObject` gives it
 */
export function encodeWatchFrame(type: string, object: Uint8Array): Uint8Array {
  const out = new BinaryWriter();
  out.tag(1, 2).string(type);
  out.tag(2, 2).fork().tag(1, 2).bytes(object).join();
  const event = out.finish();
  const frame = Buffer.alloc(4 + event.byteLength);
  frame.writeUInt32BE(event.byteLength);
  frame.set(event, 4);
  return frame;
}
