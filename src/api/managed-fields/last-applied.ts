import { compare } from './compare.ts';
import { namedFields } from './extract.ts';
import { difference, type FieldSet, leaf } from './field-set.ts';
import { isJsonObject, type JsonObject } from './field-type.ts';
import type { FieldWriter } from './track-update.ts';

/** Where client-side applies keep what was applied. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** Of all annotations of an object. */
const annotationsMaxBytes = 262_144;

export function hasLastApplied(object: JsonObject): boolean {
  return lastAppliedText(object) !== '';
}

/** The fields that a client-side apply set and nobody has changed since: none when it was through another version of the API. */
export function lastAppliedFields(live: JsonObject, { type, unowned, apiVersion }: FieldWriter): FieldSet {
  const last = parsed(lastAppliedText(live));
  if (last === undefined || last['apiVersion'] !== apiVersion) return leaf;
  const changes = compare(type, last, live, unowned);
  const fields = namedFields(type, last, unowned);
  return changes === undefined ? fields : difference(difference(difference(fields, changes.modified), changes.added), changes.removed);
}

/** The object that says that this was applied last, so that a client-side apply may follow. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const metadata = partOf(object, 'metadata');
  const { [annotation]: _, ...annotations } = partOf(metadata, 'annotations');
  const text = `${JSON.stringify(withoutAnnotation(applied), sortedKeys)}\n`;
  const bytes = Object.entries({ ...annotations, [annotation]: text }).reduce((sum, pair) => sum + Buffer.byteLength(pair.map(String).join('')), 0);
  const kept = bytes > annotationsMaxBytes ? annotations : { ...annotations, [annotation]: text };
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** As Go writes maps; for `JSON.stringify`. */
function sortedKeys(_key: string, value: unknown): unknown {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const { managedFields: _fields, ...metadata } = partOf(applied, 'metadata');
  if (!isJsonObject(metadata['annotations'])) return { ...applied, metadata };
  const { [annotation]: _, ...annotations } = metadata['annotations'];
  return { ...applied, metadata: { ...metadata, annotations } };
}

function lastAppliedText(object: JsonObject): string {
  const text = partOf(partOf(object, 'metadata'), 'annotations')[annotation];
  return typeof text === 'string' ? text : '';
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // somebody's own words: they own nothing
  }
}

function partOf(object: JsonObject, name: string): JsonObject {
  const part = object[name];
  return isJsonObject(part) ? part : {};
}
