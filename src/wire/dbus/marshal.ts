import { Unavailable } from '#base/errors.ts';

/** A variant is what is in it, an array or a struct a list, a dictionary a list of pairs. */
export type DBusValue = string | number | bigint | boolean | readonly DBusValue[];

export type MessageType = 'call' | 'reply' | 'error' | 'signal';

export interface DBusMessage {
  readonly type: MessageType;
  readonly serial: number;
  readonly path?: string | undefined;
  readonly interface?: string | undefined;
  readonly member?: string | undefined;
  readonly errorName?: string | undefined;
  readonly replySerial?: number | undefined;
  readonly destination?: string | undefined;
  readonly body: readonly DBusValue[];
}

/** A value that does not show its type: `{ type: 'a(sv)', value: [...] }`. What is in a variant is one. */
export interface TypedValue {
  readonly type: string;
  readonly value: DBusInput;
}
export type DBusInput = string | number | bigint | boolean | readonly DBusInput[] | TypedValue;

/** A call; of its arguments strings and whole numbers show their type. */
export interface DBusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly args?: readonly (string | number | TypedValue)[];
}

/** Nothing that we wait for comes near it; what claims more is no message. */
const maxMessageBytes = 1 << 20;
const types: readonly MessageType[] = ['call', 'reply', 'error', 'signal'];
/** Codes of the header's fields, by the specification of D-Bus. */
const field = { path: 1, interface: 2, member: 3, errorName: 4, replySerial: 5, destination: 6, signature: 8 } as const;

export function encodeCall(call: DBusCall, serial: number): Buffer {
  const args = (call.args ?? []).map((arg) => (typeof arg === 'object' ? arg : { type: typeof arg === 'string' ? 's' : 'i', value: arg }));
  const body = new Writer();
  for (const { type, value } of args) body.value(type, value);
  const signature = args.map(({ type }) => type).join('');
  const fields = new Writer();
  const text = (code: number, type: 'o' | 's' | 'g', value: string) => {
    fields.align(8).byte(code).signature(type);
    if (type === 'g') fields.signature(value);
    else fields.text(value);
  };
  text(field.path, 'o', call.path);
  text(field.interface, 's', call.interface);
  text(field.member, 's', call.member);
  text(field.destination, 's', call.destination);
  if (signature !== '') text(field.signature, 'g', signature);
  const content = body.bytes();
  const head = new Writer().byte('l'.charCodeAt(0)).byte(1).byte(0).byte(1).int32(content.length).int32(serial);
  head.int32(fields.bytes().length).raw(fields.bytes()).align(8);
  return Buffer.concat([head.bytes(), content]);
}

/** @returns how long the message at the start of the bytes is in all; `undefined`: they are too few to tell. @throws {Unavailable} */
export function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length < 16) return undefined;
  const [bodyLength, fieldsLength] = [wordAt(bytes, 4), wordAt(bytes, 12)];
  const length = aligned(16 + fieldsLength, 8) + bodyLength;
  if (length > maxMessageBytes) throw new Unavailable({ message: `the bus sends a message of ${length} bytes` });
  return length;
}

export function decodeMessage(bytes: Buffer): DBusMessage {
  const head = new Reader(bytes, 12);
  const fields = new Map<DBusValue | undefined, DBusValue | undefined>();
  for (const entry of head.list('(yv)')) if (Array.isArray(entry)) fields.set(entry[0], entry[1]);
  const text = (code: number) => {
    const value = fields.get(code);
    return typeof value === 'string' ? value : undefined;
  };
  const replySerial = fields.get(field.replySerial);
  const body = new Reader(bytes, aligned(head.offset, 8));
  return {
    type: types[(bytes[1] ?? 0) - 1] ?? 'signal', // unknown types are to be passed over, and a signal that nobody waits for is
    serial: wordAt(bytes, 8),
    path: text(field.path),
    interface: text(field.interface),
    member: text(field.member),
    errorName: text(field.errorName),
    replySerial: typeof replySerial === 'number' ? replySerial : undefined,
    destination: text(field.destination),
    body: splitSignature(text(field.signature) ?? '').map((type) => body.value(type)),
  };
}

class Writer {
  readonly #parts: Buffer[] = [];
  #length = 0;

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  align(to: number): this {
    return this.raw(Buffer.alloc(aligned(this.#length, to) - this.#length));
  }

  byte(value: number): this {
    return this.raw(Buffer.of(value));
  }

  int32(value: number): this {
    const word = Buffer.alloc(4);
    word.writeInt32LE(value);
    return this.align(4).raw(word);
  }

  text(value: string): this {
    const bytes = Buffer.from(`${value}\0`);
    return this.int32(bytes.length - 1).raw(bytes);
  }

  signature(value: string): this {
    return this.byte(value.length).raw(Buffer.from(`${value}\0`));
  }

  /** Only the types that are asked with. */
  value(type: string, value: DBusInput): this {
    const wrong = () => new Error(`${String(value)} is no value of the type ${type}`);
    switch (type[0]) {
      case 's':
        if (typeof value !== 'string') throw wrong();
        return this.text(value);
      case 'b':
      case 'i':
        return this.int32(Number(value));
      case 't': {
        if (typeof value !== 'bigint') throw wrong();
        const long = Buffer.alloc(8);
        long.writeBigUInt64LE(value);
        return this.align(8).raw(long);
      }
      case 'v':
        if (typeof value !== 'object' || !('type' in value)) throw wrong();
        return this.signature(value.type).value(value.type, value.value);
      case 'a':
        if (!Array.isArray(value)) throw wrong();
        return this.#list(type.slice(1), value);
      case '(': {
        if (!Array.isArray(value)) throw wrong();
        this.align(8);
        for (const [at, inner] of splitSignature(type.slice(1, -1)).entries()) this.value(inner, value[at] ?? '');
        return this;
      }
      default:
        throw wrong();
    }
  }

  /** Its length goes before it, without what fills up to its first member. */
  #list(type: string, values: readonly DBusInput[]): this {
    const length = Buffer.alloc(4);
    this.align(4).raw(length).align(alignmentOf(type));
    const start = this.#length;
    for (const value of values) this.value(type, value);
    length.writeUInt32LE(this.#length - start);
    return this;
  }
}

class Reader {
  offset: number;
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;

  constructor(bytes: Buffer, offset: number) {
    this.#bytes = bytes;
    this.offset = offset;
    this.#isLittle = isLittleEndian(bytes);
  }

  value(type: string): DBusValue {
    const bytes = this.#bytes;
    switch (type[0]) {
      case 'y':
        return bytes.readUInt8(this.#take(1, 1));
      case 'b':
        return this.#word() !== 0;
      case 'n':
      case 'q': {
        const at = this.#take(2, 2);
        const short = this.#isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
        return type === 'n' ? (short << 16) >> 16 : short;
      }
      case 'i':
        return this.#word() | 0;
      case 'u':
      case 'h':
        return this.#word();
      case 'x':
      case 't': {
        const at = this.#take(8, 8);
        const long = this.#isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at);
        return type === 'x' ? BigInt.asIntN(64, long) : long;
      }
      case 'd': {
        const at = this.#take(8, 8);
        return this.#isLittle ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at);
      }
      case 's':
      case 'o':
        return this.#text(this.#word());
      case 'g':
        return this.#text(bytes.readUInt8(this.#take(1, 1)));
      case 'v':
        return this.value(this.#text(bytes.readUInt8(this.#take(1, 1))));
      case 'a':
        return this.list(type.slice(1));
      case '(':
      case '{':
        this.#take(0, 8);
        return splitSignature(type.slice(1, -1)).map((inner) => this.value(inner));
      default:
        throw new Unavailable({ message: `the bus sends a value of the unknown type ${type}` });
    }
  }

  list(type: string): readonly DBusValue[] {
    const length = this.#word();
    this.#take(0, alignmentOf(type));
    const end = this.offset + length;
    const values: DBusValue[] = [];
    while (this.offset < end) values.push(this.value(type));
    return values;
  }

  #take(length: number, alignment: number): number {
    const at = aligned(this.offset, alignment);
    this.offset = at + length;
    return at;
  }

  #word(): number {
    return wordAt(this.#bytes, this.#take(4, 4));
  }

  #text(length: number): string {
    const at = this.#take(length + 1, 1);
    return this.#bytes.toString('utf8', at, at + length);
  }
}

/** `sa(su)` has the types `s` and `a(su)`. */
function splitSignature(signature: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < signature.length; ) {
    const end = endOfType(signature, at);
    parts.push(signature.slice(at, end));
    at = end;
  }
  return parts;
}

function endOfType(signature: string, at: number): number {
  const first = signature[at];
  if (first === 'a') return endOfType(signature, at + 1);
  if (first !== '(' && first !== '{') return at + 1;
  const close = first === '(' ? ')' : '}';
  let next = at + 1;
  while (next < signature.length && signature[next] !== close) next = endOfType(signature, next);
  return next + 1;
}

function alignmentOf(type: string): number {
  if ('xtd({'.includes(type[0] ?? '')) return 8;
  if ('biuhsoa'.includes(type[0] ?? '')) return 4;
  return 'nq'.includes(type[0] ?? '') ? 2 : 1;
}

function wordAt(bytes: Buffer, at: number): number {
  return isLittleEndian(bytes) ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

function isLittleEndian(bytes: Buffer): boolean {
  return bytes[0] === 'l'.charCodeAt(0);
}

function aligned(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
}
