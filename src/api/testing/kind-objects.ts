import { type FieldProblem, problemText } from '../field-problem.ts';
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { decodeJson } from '../schema/decode-json.ts';

/** The object as the server would store what a client sends, whether it is valid or not. */
export function created<T extends KubeObject>(kind: Kind<T>, body: object): T {
  const { object } = decodeJson(kind.schema, JSON.parse(JSON.stringify(body)));
  const named = object as unknown as T; // the schema has read it; what is missing is filled in below
  const metadata = { ...named.metadata, namespace: 'default', uid: 'u1', resourceVersion: '', creationTimestamp: '2026-12-02T06:00:00Z' };
  return kind.prepareCreate(kind.setDefaults({ ...named, metadata }));
}

/** What the server says against a new object. */
export function refusal<T extends KubeObject>(kind: Kind<T>, body: object): readonly string[] {
  return texts(kind.validate(created(kind, body)));
}

/** The object after an update, and what the server says against that. */
export function updated<T extends KubeObject>(kind: Kind<T>, previous: T, next: T): { readonly object: T; readonly refusal: readonly string[] } {
  const object = kind.prepareUpdate(kind.setDefaults(next), previous);
  return { object, refusal: texts(kind.validateUpdate(object, previous)) };
}

/** What the server says against another status. */
export function statusRefusal<T extends KubeObject>(kind: Kind<T>, previous: T, status: object): readonly string[] {
  return texts(kind.validateStatusUpdate(kind.prepareStatusUpdate({ ...previous, status }, previous), previous));
}

/** The cells of an object's row. */
export function cells<T extends KubeObject>(kind: Kind<T>, object: T): readonly unknown[] {
  return kind.columns.map(({ cell }) => cell(object, Date.parse('2026-12-02T06:05:00Z')));
}

function texts(problems: readonly FieldProblem[]): readonly string[] {
  return problems.map(problemText);
}
