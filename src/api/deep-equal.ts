import { meaningfulZeros } from './meaningful-zeros.ts';

/** Whether two JSON-shaped values are the same; a field that is `undefined` counts as absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Number.isNaN(a) && Number.isNaN(b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  const left = a as Readonly<Record<string, unknown>>; // an object that is no list; read only, key by key
  const right = b as typeof left;
  for (const key in left) if (!deepEqual(own(left, key), own(right, key))) return false;
  for (const key in right) if (right[key] !== undefined && own(left, key) === undefined) return false;
  return true;
}

/** Not what every object inherits: a key may be `constructor`. */
function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * Whether two API objects say the same: an empty list, map or text, zero and `false` count as absent, because clients in Go do not send them.
 * Fields in which those values mean something of their own are told apart.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  return deepEqual(a, b) || deepEqual(withoutEmpty(a, ''), withoutEmpty(b, ''));
}

function withoutEmpty(value: unknown, name: string): unknown {
  if (value === '' || value === 0 || value === false || value === null) return meaningfulZeros.has(name) ? value : undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item: unknown) => withoutEmpty(item, '') ?? null);
  const entries = Object.entries(value ?? {}).flatMap(([key, inner]) => {
    const kept = withoutEmpty(inner, key);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
