import { meaningfulZeros } from './meaningful-zeros.ts';

/** Whether two JSON-shaped values are the same; a field that is `undefined` counts as absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Number.isNaN(a) && Number.isNaN(b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  const left: Readonly<Record<string, unknown>> = { ...a };
  const right: Readonly<Record<string, unknown>> = { ...b };
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].every((key) => deepEqual(left[key], right[key]));
}

/**
 * Whether two API objects say the same: an empty list, map or text, zero and `false` count as absent, because clients in Go do not send them.
 * Fields in which those values mean something of their own are told apart.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  return deepEqual(withoutEmpty(a, ''), withoutEmpty(b, ''));
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
