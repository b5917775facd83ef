import { type FieldProblem, notSupported, required } from '../field-problem.ts';

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Whether a text is one of a closed set. */
export function validateChoice(value: string | undefined, allowed: readonly string[], field: string): readonly FieldProblem[] {
  if (value === undefined || value === '') return [required(field)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

/** One problem for each item whose key was there before. */
export function findDuplicates<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  problem: (item: T, index: number) => FieldProblem,
): readonly FieldProblem[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return [problem(item, index)];
    seen.add(key);
    return [];
  });
}
