import { compare } from './compare.ts';
import { capped, type Entry, entryOf, inOrder, isOwnedBy, type Owner, withoutFields } from './entries.ts';
import { namedFields } from './extract.ts';
import { difference, type FieldSet, intersection, isBare, leaf, union, within } from './field-set.ts';
import type { JsonObject } from './field-type.ts';
import { hasLastApplied, lastAppliedFields, withLastApplied } from './last-applied.ts';
import { merge } from './merge.ts';
import { prune } from './prune.ts';
import { type FieldWriter, trackUpdate } from './track-update.ts';

/** Fields of another manager that would change. */
export interface Conflict {
  readonly entry: Entry;
  readonly fields: FieldSet;
}

export type ApplyResult =
  /** The object may hold nulls, and values as they were applied. */
  | { readonly kind: 'applied'; readonly object: JsonObject; readonly entries: readonly Entry[] }
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] };

/** Whose fields an object has that was never applied to before. */
const beforeFirstApply = 'before-first-apply';
/** The manager whose client-side applies are taken over: what they own is no conflict. */
const kubectl = 'kubectl';

/**
 * Merges what a manager applies into an object.
 *
 * @param live an empty object for one that is new
 * @param applied checked by `checkApplied`
 */
export function apply(live: JsonObject, entries: readonly Entry[], applied: JsonObject, writer: FieldWriter, isForced: boolean): ApplyResult {
  const owners = entries.length > 0 ? entries : firstOwners(live, writer);
  const result = applyOnce(live, owners, applied, writer, isForced);
  if (writer.manager !== kubectl || !hasLastApplied(live)) return result;
  const taken = result.kind === 'conflict' ? tookOver(live, owners, applied, writer, result.conflicts) : result;
  return taken.kind === 'conflict' ? taken : { ...taken, object: withLastApplied(taken.object, applied) };
}

/** What client-side applies own is no conflict. */
function tookOver(live: JsonObject, owners: readonly Entry[], applied: JsonObject, writer: FieldWriter, conflicts: readonly Conflict[]): ApplyResult {
  const allowed = lastAppliedFields(live, writer);
  const others = conflicts.map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) })).filter(({ fields }) => !isBare(fields));
  return others.length > 0 ? { kind: 'conflict', conflicts: others } : applyOnce(live, owners, applied, writer, true);
}

function firstOwners(live: JsonObject, writer: FieldWriter): readonly Entry[] {
  return trackUpdate([], {}, live, { ...writer, manager: beforeFirstApply });
}

function applyOnce(live: JsonObject, entries: readonly Entry[], applied: JsonObject, writer: FieldWriter, isForced: boolean): ApplyResult {
  const { type, unowned } = writer;
  const owner: Owner = { ...writer, operation: 'Apply' };
  const last = entries.find((entry) => isOwnedBy(entry, owner));
  const others = entries.filter((entry) => entry !== last);
  const fields = inReach(namedFields(type, applied, unowned), writer);
  const merged = merge(type, live, applied);
  const object =
    last === undefined
      ? merged
      : prune(
          type,
          merged,
          last.fieldsV1,
          others.reduce((all, entry) => union(all, entry.fieldsV1), fields),
        );
  const changes = compare(type, live, object, unowned);
  const taken = changes === undefined ? leaf : inReach(union(changes.added, changes.modified), writer);
  if (!isForced) {
    const conflicts = others.map((entry) => ({ entry, fields: intersection(entry.fieldsV1, taken) })).filter((conflict) => !isBare(conflict.fields));
    if (conflicts.length > 0) return { kind: 'conflict', conflicts };
  }
  const left = withoutFields(withoutFields(others, taken), inReach(changes?.removed ?? leaf, writer));
  const isSame = changes === undefined && last !== undefined && sameFields(last.fieldsV1, fields);
  if (isSame) return { kind: 'applied', object, entries };
  const written = isBare(fields) ? [] : [entryOf(owner, fields, writer.time)];
  return { kind: 'applied', object, entries: capped(inOrder([...left, ...written])) };
}

/** What the endpoint does not take is nobody's through it. */
function inReach(fields: FieldSet, { taken }: FieldWriter): FieldSet {
  return taken === undefined ? fields : within(fields, taken);
}

function sameFields(a: FieldSet, b: FieldSet): boolean {
  return isBare(difference(a, b)) && isBare(difference(b, a));
}
