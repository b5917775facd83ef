import { InvalidInput } from '#base/errors.ts';
import { deepEqual } from '../deep-equal.ts';
import type { ManagedFieldsEntry } from '../types/meta-v1.ts';
import { difference, type FieldSet, isBare, parseFieldSet, union } from './field-set.ts';

export type Operation = 'Apply' | 'Update';

/** What one manager owns through one endpoint, as objects carry it. */
export interface Entry extends ManagedFieldsEntry {
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
}

/** Who owns an entry. Through other versions of the API an updater is somebody else, an applier the same. */
export interface Owner {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

/** The entries that a stored object has; none when they make no sense. */
export function storedEntries(stored: readonly ManagedFieldsEntry[] | undefined): readonly Entry[] {
  return stored?.every(isEntry) === true ? stored : [];
}

/**
 * The entries from which a write starts: a client that read them may write them, an empty list or an empty entry forgets them all, and what
 * makes no sense is passed over.
 */
export function givenEntries(given: readonly ManagedFieldsEntry[] | undefined, stored: readonly Entry[]): readonly Entry[] {
  if (given === undefined) return stored;
  if (given.length === 0 || (given.length === 1 && Object.keys(given[0] ?? {}).length === 0)) return [];
  if (given === stored || deepEqual(given, stored)) return stored;
  try {
    return parseEntries(given);
  } catch (error) {
    if (error instanceof InvalidInput) return stored;
    throw error;
  }
}

/** @throws {InvalidInput} in upstream's words */
export function parseEntries(given: readonly ManagedFieldsEntry[]): readonly Entry[] {
  const entries = given.map((entry, index): Entry => {
    const { operation, apiVersion = '', fieldsType = '', manager = '', subresource = '', time } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw new InvalidInput({ message: 'operation must be `Apply` or `Update`' });
    if (apiVersion === '') throw new InvalidInput({ message: 'apiVersion must not be empty' });
    if (fieldsType === '') throw new InvalidInput({ message: `missing fieldsType in managed fields entry ${index}` });
    if (fieldsType !== 'FieldsV1') throw new InvalidInput({ message: `invalid fieldsType "${fieldsType}" in managed fields entry ${index}` });
    const fieldsV1 = parseFieldSet(entry.fieldsV1 ?? {});
    return entryOf({ manager, operation, apiVersion, subresource }, fieldsV1, time);
  });
  return inOrder(entries.filter(({ fieldsV1 }) => !isBare(fieldsV1)));
}

export function entryOf({ manager, operation, apiVersion, subresource }: Owner, fieldsV1: FieldSet, time: string | undefined): Entry {
  const named = manager === '' ? {} : { manager }; // one that sends no User-Agent has no name
  const head = { ...named, operation, apiVersion, ...(time === undefined ? {} : { time }), fieldsType: 'FieldsV1', fieldsV1 } as const;
  return subresource === '' ? head : { ...head, subresource };
}

export function isOwnedBy(entry: Entry, owner: Owner): boolean {
  return (
    (entry.manager ?? '') === owner.manager &&
    entry.operation === owner.operation &&
    (entry.subresource ?? '') === owner.subresource &&
    (owner.operation === 'Apply' || entry.apiVersion === owner.apiVersion)
  );
}

/** The entries without these fields; those that own nothing any more are gone. @returns the same ones when nothing goes */
export function withoutFields(entries: readonly Entry[], fields: FieldSet): readonly Entry[] {
  if (isBare(fields)) return entries;
  let isChanged = false;
  const left = entries.flatMap((entry) => {
    const fieldsV1 = difference(entry.fieldsV1, fields);
    if (fieldsV1 === entry.fieldsV1) return [entry];
    isChanged = true;
    return isBare(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  return isChanged ? left : entries;
}

/** As they are written: by operation, time, manager, version and subresource. */
export function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const keys = (entry: Entry) => [entry.operation, entry.time ?? '', entry.manager ?? '', entry.apiVersion, entry.subresource ?? ''];
  return entries.toSorted((a, b) => compareLists(keys(a), keys(b)));
}

/** More updaters than these are not told apart. */
const updatersMax = 10;
const oldUpdatesManager = 'ancient-changes';

/** The oldest updates become one, for each version of the API, until there are few enough. */
export function capped(entries: readonly Entry[]): readonly Entry[] {
  const updates = entries.filter(({ operation }) => operation === 'Update');
  if (updates.length <= updatersMax) return entries;
  const oldestFirst = updates.toSorted((a, b) => compareLists([a.time ?? '', a.manager ?? ''], [b.time ?? '', b.manager ?? '']));
  const buckets = new Map<string, Entry[]>();
  let left = updates.length;
  for (const entry of oldestFirst) {
    if (left <= updatersMax) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) buckets.set(entry.apiVersion, [entry]);
    else {
      bucket.push(entry);
      left--;
    }
  }
  const joined = [...buckets.values()].filter((bucket) => bucket.length > 1);
  const gone = new Set(joined.flat());
  return inOrder([...entries.filter((entry) => !gone.has(entry)), ...joined.map(joinedEntry)]);
}

function joinedEntry(entries: readonly Entry[]): Entry {
  const fields = entries.map(({ fieldsV1 }) => fieldsV1).reduce(union);
  const { apiVersion = '', time } = entries.at(-1) ?? {};
  return entryOf({ manager: oldUpdatesManager, operation: 'Update', apiVersion, subresource: '' }, fields, time);
}

function isEntry(entry: ManagedFieldsEntry): entry is Entry {
  const { operation, apiVersion, fieldsType, fieldsV1 } = entry;
  const isKnown = (operation === 'Apply' || operation === 'Update') && fieldsType === 'FieldsV1';
  return isKnown && (apiVersion ?? '') !== '' && typeof fieldsV1 === 'object' && fieldsV1 !== null;
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [index, text] of a.entries()) {
    const other = b[index] ?? '';
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}
