import { semanticEqual } from '../deep-equal.ts';
import { type FieldProblem, invalid } from '../field-problem.ts';

/** A field that keeps the value it was created with. */
export function validateImmutable(next: unknown, previous: unknown, field: string): readonly FieldProblem[] {
  return semanticEqual(named(field, next), named(field, previous)) ? [] : [invalid(field, next, 'field is immutable')];
}

/** Which parts of an object differ, a line each: what upstream shows as a difference of its own types. */
export function differencesText(next: object, previous: object, name: string): string {
  const left = new Map<string, unknown>(Object.entries(next));
  const right = new Map<string, unknown>(Object.entries(previous));
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  const changed = keys.filter((key) => !semanticEqual(named(key, left.get(key)), named(key, right.get(key))));
  return changed.map((key) => `${name}.${key} differs\n`).join('');
}

/** With its name, since some zeros mean something. */
function named(field: string, value: unknown): object {
  return { [field.slice(field.lastIndexOf('.') + 1)]: value };
}
