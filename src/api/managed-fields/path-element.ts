import { InvalidInput } from '#base/errors.ts';
import { quote } from '../quote.ts';

/**
 * The names that FieldsV1 has for what lies below a node: `f:name` a field or a key of a map, `k:{"name":"a"}` an item of a list by its keys,
 * `v:"a"` an item of a set, `i:0` an item by its place, `.` the node itself.
 */
export const itself = '.';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

export function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`;
}

/** @param keys names with their values, in any order */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  const sorted = keys.length < 2 ? keys : keys.toSorted(([a], [b]) => compareText(a, b));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** The element as we write it; undefined: of a kind that a newer server knows. @throws {InvalidInput} */
export function parseElement(text: string): string | undefined {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'v:':
      return valueElement(parseJson(rest));
    case 'k:': {
      const keys = parseJson(rest);
      if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new InvalidInput({ message: `${quote(text)} has no keys` });
      return keyElement(Object.entries(keys));
    }
    case 'i:':
      if (!/^\d+$/.test(rest)) throw new InvalidInput({ message: `${quote(text)} is no index` });
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

/** As a path shows it: `.replicas`, `[name="a"]`, `[="v"]`, `[0]`. */
export function printElement(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${rest}`;
    case 'v:':
      return `[=${printValue(JSON.parse(rest))}]`;
    case 'k:': {
      const keys = Object.entries(JSON.parse(rest) as Readonly<Record<string, unknown>>); // parseElement or keyElement made it
      return `[${keys.map(([name, value]) => `${name}=${printValue(value)}`).join(',')}]`;
    }
    default:
      return `[${rest}]`;
  }
}

const ranks: Readonly<Record<string, number>> = { '.': 0, f: 1, k: 2, v: 3, i: 4 };

/** The order in which a set is written: itself, fields, keys, values, indexes. */
export function compareElements(a: string, b: string): number {
  const byKind = (ranks[a.charAt(0)] ?? 5) - (ranks[b.charAt(0)] ?? 5);
  if (byKind !== 0) return byKind;
  if (a.charAt(0) === 'f' || a === b) return compareText(a, b);
  return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return compareText(String(a), String(b));
  const others = Object.entries(b);
  for (const [index, [name, value]] of Object.entries(a).entries()) {
    const [otherName, otherValue] = others[index] ?? [];
    if (otherName === undefined) return 1;
    const order = compareText(name, otherName) || compareValues(value, otherValue);
    if (order !== 0) return order;
  }
  return Object.keys(a).length - others.length;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function printValue(value: unknown): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidInput({ message: `${quote(text)} is no JSON`, cause });
  }
}
