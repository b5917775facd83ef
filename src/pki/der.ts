/**
 * The few DER encodings that a certificate consists of (ITU-T X.690).
 *
 * Written here because the certificate libraries cost 80 ms (bundled) to 250 ms to load, a good part of what a control plane may take to
 * start; all that is read back in earnest is read by `node:crypto`.
 */

const SEQUENCE = 0x30;
const SET = 0x31;

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(SEQUENCE, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(SET, ...parts);
}

/** @param value big-endian and not negative; leading zeros are dropped */
export function unsignedInteger(value: Uint8Array): Buffer {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start += 1;
  const digits = value.subarray(start);
  const looksNegative = ((digits[0] ?? 0) & 0x80) !== 0;
  return element(0x02, looksNegative ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

export function octetString(value: Uint8Array): Buffer {
  return element(0x04, value);
}

/** @param unusedBits of the last byte */
export function bitString(value: Uint8Array, unusedBits: number): Buffer {
  return element(0x03, Buffer.from([unusedBits]), value);
}

export function utf8String(value: string): Buffer {
  return element(0x0c, Buffer.from(value));
}

export const nullValue: Buffer = Buffer.from([0x05, 0]);

/** @param dotted such as `2.5.29.15` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** RFC 5280 4.1.2.5: two-digit years until 2049, four digits from 2050. */
export function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050 ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

/** `[tag] EXPLICIT`: wraps an element. */
export function explicit(tag: number, content: Uint8Array): Buffer {
  return element(0xa0 | tag, content);
}

/** `[tag] IMPLICIT` of a string type: takes the place of its tag. */
export function implicit(tag: number, content: Uint8Array): Buffer {
  return element(0x80 | tag, content);
}

/** The elements that `der`, one constructed element, is made of, each with its header. */
export function children(der: Uint8Array): readonly Uint8Array[] {
  const outer = header(der, 0);
  const found: Uint8Array[] = [];
  let at = outer.contentAt;
  while (at < outer.end) {
    const { end } = header(der, at);
    found.push(der.subarray(at, end));
    at = end;
  }
  return found;
}

/** What stands in an element, without its header. */
export function contentOf(der: Uint8Array): Uint8Array {
  const { contentAt, end } = header(der, 0);
  return der.subarray(contentAt, end);
}

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...parts]);
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return [0x80 | digits.length, ...digits];
}

function base128(value: number): readonly number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest % 128));
  return digits;
}

function header(der: Uint8Array, at: number): { readonly contentAt: number; readonly end: number } {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { contentAt: at + 2, end: at + 2 + first };
  const digits = der.subarray(at + 2, at + 2 + (first & 0x7f));
  const length = digits.reduce((sum, digit) => sum * 256 + digit, 0);
  return { contentAt: at + 2 + digits.length, end: at + 2 + digits.length + length };
}
