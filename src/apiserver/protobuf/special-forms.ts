import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { MessageSchema } from '#api/schema/message-schema.ts';
import { InvalidInput } from '#base/errors.ts';

/** Reads a message that is no object in JSON. `undefined` is no value: an unset time. @throws {InvalidInput} */
export function decodeForm(message: MessageSchema, bytes: Uint8Array): unknown {
  switch (message.form) {
    case 'time':
      return timeOf(numbersOf(bytes), 0);
    case 'micro-time':
      return timeOf(numbersOf(bytes), 6);
    case 'duration':
      return `${(numbersOf(bytes).get(1) ?? 0) / 1e9}s`;
    case 'quantity':
      return textsOf(bytes, 1)[0] ?? '0';
    case 'int-or-string':
      return intOrString(bytes);
    case 'raw-object':
    case 'any':
      return jsonOf(bytes);
    case 'string-list':
      return textsOf(bytes, 1);
    default:
      throw new InvalidInput({ message: `proto: ${message.name} cannot be read` });
  }
}

/** The whole numbers of a message, by field number. */
function numbersOf(bytes: Uint8Array): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    numbers.set(field, Number(reader.int64()));
  }
  return numbers;
}

function textsOf(bytes: Uint8Array, wanted: number): readonly string[] {
  const texts: string[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === wanted) texts.push(reader.string());
    else reader.skip(wireType);
  }
  return texts;
}

/** An empty message is Go's zero time, which JSON has as null. @param digits of a second's fraction */
function timeOf(numbers: ReadonlyMap<number, number>, digits: number): string | undefined {
  if (numbers.size === 0) return undefined;
  const [seconds, nanos] = [numbers.get(1) ?? 0, numbers.get(2) ?? 0];
  const ms = seconds * 1000;
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) throw new InvalidInput({ message: `proto: ${seconds} is no time` });
  const whole = new Date(ms).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, '0').slice(0, digits)}Z`;
}

function intOrString(bytes: Uint8Array): string | number {
  let isText = false;
  let number = 0;
  let text = '';
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) isText = Number(reader.int64()) === 1;
    else if (field === 2) number = reader.int32();
    else if (field === 3) text = reader.string();
    else reader.skip(wireType);
  }
  return isText ? text : number;
}

function jsonOf(bytes: Uint8Array): unknown {
  const text = textsOf(bytes, 1)[0] ?? '';
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidInput({ message: 'proto: embedded JSON cannot be read', cause });
  }
}
