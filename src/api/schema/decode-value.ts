import { InvalidInput } from '#base/errors.ts';
import { canonicalQuantity } from '../quantity.ts';
import { quote } from '../quote.ts';
import type { JsonForm, ScalarType } from './message-schema.ts';

/** Makes the error for a value that is not of the Go type that is named. */
type WrongType = (goType: string) => InvalidInput;

export function decodeScalar(type: ScalarType, value: unknown, wrong: WrongType): unknown {
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw wrong('string');
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw wrong('bool');
      return value;
    case 'int32':
      if (!isInteger(value) || value < -(2 ** 31) || value >= 2 ** 31) throw wrong('int32');
      return value;
    case 'int64':
      if (!isInteger(value)) throw wrong('int64');
      return value;
    case 'double':
      if (typeof value !== 'number') throw wrong('float64');
      return value;
    case 'bytes':
      if (typeof value !== 'string') throw wrong('[]uint8');
      return decodeBase64(value);
  }
}

/** A value of a message that is no object in JSON. */
export function decodeSpecial(form: Exclude<JsonForm, 'object' | `schema-or-${string}`>, value: unknown, wrong: WrongType): unknown {
  switch (form) {
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') throw wrong('resource.Quantity');
      return canonicalQuantity(value);
    case 'time':
      if (typeof value !== 'string') throw wrong('v1.Time');
      return `${toIso(value).slice(0, 19)}Z`;
    case 'micro-time':
      if (typeof value !== 'string') throw wrong('v1.MicroTime');
      return toMicroTime(value);
    case 'duration':
      if (typeof value !== 'string') throw wrong('v1.Duration');
      if (!/^[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(value)) throw bad(`time: invalid duration ${quote(value)}`);
      return value;
    case 'int-or-string':
      if (typeof value === 'string') return value;
      return decodeScalar('int32', value, wrong);
    case 'raw-object':
      if (typeof value !== 'object' || Array.isArray(value)) throw wrong('runtime.RawExtension');
      return value;
    case 'string-list':
      if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw wrong('[]string');
      return value;
    case 'any':
      return value;
  }
}

/** What Go's decoder calls a value that it cannot take. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // Go names the number where a number was expected, but of another range; naming it always says more.
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function toIso(text: string): string {
  const atMs = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw bad(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(text)} as "2006"`);
  }
  return new Date(atMs).toISOString();
}

function toMicroTime(text: string): string {
  const fraction = rfc3339.exec(text)?.[2]?.slice(1) ?? '';
  return `${toIso(text).slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

function decodeBase64(text: string): string {
  const plain = text.replaceAll(/[\r\n]/g, '');
  const good = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  if (good.test(plain)) return plain;
  const at = plain.search(/[^A-Za-z0-9+/]/);
  throw bad(`illegal base64 data at input byte ${at < 0 ? plain.length - (plain.length % 4) : at}`);
}

function isInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function bad(message: string): InvalidInput {
  return new InvalidInput({ message });
}
