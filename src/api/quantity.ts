import { InvalidInput } from '#base/errors.ts';

/** An amount such as `500m` or `1Gi`, exact to 10^-9. */
export interface Quantity {
  readonly nanos: bigint;
  /** How it is printed: the family of the suffix that it was written with. */
  readonly format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent';
}

/**
 * Reads every form that the API allows: `1`, `.5`, `100m`, `1Gi`, `2e3`; also the number that JSON may have instead of a text.
 * Fractions below 10^-9 are rounded away from zero; amounts above 2^63-1 become that.
 *
 * @throws {InvalidInput} with upstream's message
 */
export function parseQuantity(text: string | number): Quantity {
  const key = String(text);
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const quantity = parse(key);
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(key, quantity);
  return quantity;
}

/** The canonical text: no fraction, the largest suffix that leaves a whole number. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  if (format === 'BinarySI' && nanos % giga === 0n && abs(nanos) >= 1024n * giga) return formatBinary(nanos / giga);
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n && (exponent < 18 || format === 'DecimalExponent')) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === 'DecimalExponent') return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
  return `${mantissa}${decimalSuffixes[exponent / 3 + 3] ?? ''}`;
}

/** @throws {InvalidInput} when it is no quantity */
export function canonicalQuantity(text: string | number): string {
  return formatQuantity(parseQuantity(text));
}

/** Below 0, 0 or above 0, by amount: `1000m` equals `1`. @throws {InvalidInput} */
export function compareQuantities(a: string, b: string): number {
  const difference = parseQuantity(a).nanos - parseQuantity(b).nanos;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The sum, in the family of `a` unless that is zero. @throws {InvalidInput} */
export function addQuantities(a: string, b: string): string {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return formatQuantity({ nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format });
}

/** The difference, in the family of `a` unless that is zero. @throws {InvalidInput} */
export function subtractQuantities(a: string, b: string): string {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return formatQuantity({ nanos: left.nanos - right.nanos, format: left.nanos === 0n ? right.format : left.format });
}

/** In whole base units (bytes, cores, pieces), rounded up. Above 2^53 it is as exact as a number can be. @throws {InvalidInput} */
export function quantityToNumber(text: string | number): number {
  return Number(divideUp(parseQuantity(text).nanos, giga));
}

/** In thousandths, rounded up. @throws {InvalidInput} */
export function quantityToMilli(text: string | number): number {
  return Number(divideUp(parseQuantity(text).nanos, 1_000_000n));
}

/** @param value whole base units, an integer */
export function quantityOf(value: number | bigint, format: Quantity['format'] = 'DecimalSI'): Quantity {
  return { nanos: BigInt(value) * giga, format };
}

/** @param milli thousandths, an integer */
export function quantityOfMilli(milli: number | bigint): Quantity {
  return { nanos: BigInt(milli) * 1_000_000n, format: 'DecimalSI' };
}

const giga = 1_000_000_000n;
const largest = (2n ** 63n - 1n) * giga;
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Beyond this an amount is zero or too large, whatever its digits; keeps the arithmetic small. */
const exponentMax = 100;
const digitsMax = 1000;

/** The same few texts are parsed over and over while pods are scheduled. */
const remembered = new Map<string, Quantity>();
const rememberedMax = 4096;

function parse(text: string): Quantity {
  if (text === '') throw wrong("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = parts ?? [];
  if (!/^[eEinumkKMGTP]*[-+]?\d*$/.test(suffix)) {
    throw wrong("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  if (whole + fraction === '' || whole.length + fraction.length > digitsMax) throw wrong('unable to parse numeric part of quantity');
  const { base, exponent, format } = readSuffix(suffix);
  const digits = BigInt(whole + fraction);
  const nanos = base === 2 ? scaleBinary(digits, fraction.length, exponent) : scaleDecimal(digits, exponent - fraction.length + 9);
  const capped = nanos > largest ? largest : nanos;
  return { nanos: sign === '-' ? -capped : capped, format };
}

function readSuffix(suffix: string): { readonly base: 2 | 10; readonly exponent: number; readonly format: Quantity['format'] } {
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: (decimal - 3) * 3, format: 'DecimalSI' };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  const scientific = /^[eE]([+-]?\d+)$/.exec(suffix);
  if (scientific === null) throw wrong("unable to parse quantity's suffix");
  const exponent = Math.max(-exponentMax, Math.min(exponentMax, Number(scientific[1])));
  return { base: 10, exponent, format: 'DecimalExponent' };
}

function scaleDecimal(digits: bigint, exponent: number): bigint {
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : divideUp(digits, 10n ** BigInt(-exponent));
}

function scaleBinary(digits: bigint, fractionDigits: number, exponent: number): bigint {
  return divideUp(digits * 2n ** BigInt(exponent) * giga, 10n ** BigInt(fractionDigits));
}

function formatBinary(value: bigint): string {
  let mantissa = value;
  let step = 0;
  while (mantissa % 1024n === 0n && step < binarySuffixes.length - 1) {
    mantissa /= 1024n;
    step += 1;
  }
  return `${mantissa}${binarySuffixes[step] ?? ''}`;
}

/** Towards +infinity. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend > 0n && dividend % divisor !== 0n ? quotient + 1n : quotient;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function wrong(message: string): InvalidInput {
  return new InvalidInput({ message });
}
