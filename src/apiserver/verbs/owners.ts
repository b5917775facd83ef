import { deepEqual } from '#api/deep-equal.ts';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import { type Entry, givenEntries, parseEntries, storedEntries } from '#api/managed-fields/entries.ts';
import { anyItem, type FieldSet, leaf, setOfPath, union } from '#api/managed-fields/field-set.ts';
import type { JsonObject } from '#api/managed-fields/field-type.ts';
import { typeOfMessage } from '#api/managed-fields/message-type.ts';
import { fieldElement } from '#api/managed-fields/path-element.ts';
import { type FieldWriter, trackUpdate } from '#api/managed-fields/track-update.ts';
import type { KubeObject } from '#api/object.ts';
import type { ManagedFieldsEntry } from '#api/types/meta-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { ServerContext } from '../request/context.ts';
import type { Writer } from '../request/writer.ts';
import { nowSeconds } from './times.ts';

/** What an object says about whose its fields are. */
export type Owners = readonly ManagedFieldsEntry[];

export function fieldWriter({ clock }: Pick<ServerContext, 'clock'>, kind: Kind, subresource: string, { fieldManager }: Writer): FieldWriter {
  return {
    type: typeOfMessage(kind.schema),
    manager: fieldManager,
    apiVersion: apiVersionOf(kind),
    subresource,
    unowned: unownedFields(kind, subresource),
    taken: takenFields(kind, subresource),
    time: nowSeconds(clock),
  };
}

/** Only asked for what is applied: of an update the endpoint has left out the rest already. */
function takenFields(kind: Kind, subresource: string): FieldSet | undefined {
  const paths = Object.entries(kind.partialUpdates).find(([name]) => name === subresource)?.[1].fields;
  return paths && ['metadata', ...paths].map((path) => setOfPath(path.split('.').map(patternElement))).reduce(union, leaf);
}

function patternElement(name: string): string {
  return name === anyItem ? anyItem : fieldElement(name);
}

/** @param object as the client wants it, defaults written out @param given what it says about its owners */
export function ownersOfNew(context: ServerContext, kind: Kind, object: KubeObject, given: Owners | undefined, writer: Writer): Owners {
  return tracked(context, () => trackUpdate(givenEntries(given, []), {}, toJson(object), fieldWriter(context, kind, '', writer)));
}

/** @param object as the client wants it, defaults written out @param given what it says about its owners; through a subresource it has no say */
export function ownersOfChanged(
  context: ServerContext,
  kind: Kind,
  subresource: string,
  current: KubeObject,
  object: KubeObject,
  given: Owners | undefined,
  writer: Writer,
): Owners {
  return tracked(context, () => {
    const stored = storedEntries(current.metadata.managedFields);
    const entries = subresource === '' ? givenEntries(given, stored) : stored;
    // Of an object whose owners are not known, none become known by an update: only an apply asks for them.
    if (entries.length === 0) return entries;
    return trackUpdate(entries, toJson(current), toJson(object), fieldWriter(context, kind, subresource, writer));
  });
}

export function withOwners(object: KubeObject, owners: Owners): KubeObject {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === owners || (managedFields === undefined && owners.length === 0)) return object;
  return { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, managedFields: owners } };
}

/** What admission made of an object, with the owners from before when it has damaged them. */
export function withSoundOwners(admitted: KubeObject, owners: Owners, warn: (text: string) => void): KubeObject {
  const found = admitted.metadata.managedFields ?? [];
  if (found === owners || (found.length === 0 && owners.length === 0)) return admitted;
  try {
    return withOwners(admitted, parseEntries(found));
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    warn(
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; ' +
        `please fix your requests: ${error.message}`,
    );
    return withOwners(admitted, owners);
  }
}

/** Whether both have the same owners of the same fields, at whatever times. */
export function sameOwners(a: KubeObject, b: KubeObject): boolean {
  const left = a.metadata.managedFields ?? [];
  const right = b.metadata.managedFields ?? [];
  if (left === right) return true;
  return left.length === right.length && left.every((entry) => right.some((other) => deepEqual(timeless(entry), timeless(other))));
}

function timeless({ time: _, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry;
}

/** A failure to tell the owners must not fail the write: then nobody is known to own anything. */
function tracked({ logger }: ServerContext, track: () => readonly Entry[]): Owners {
  try {
    return track();
  } catch (error) {
    logger.error('the owners of fields could not be told', { error });
    return [];
  }
}

function toJson(object: KubeObject): JsonObject {
  return { ...object };
}

const neverOwned: readonly string[] = [
  'apiVersion',
  'kind',
  ...(['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'] as const).map(
    (name) => `metadata.${name}`,
  ),
];

const unowned = new WeakMap<Kind, Map<string, FieldSet>>();

/** What the server says itself, and what the endpoint does not take. */
function unownedFields(kind: Kind, subresource: string): FieldSet {
  const known = unowned.get(kind) ?? new Map<string, FieldSet>();
  unowned.set(kind, known);
  const reset = Object.entries(kind.resetFields).find(([name]) => name === subresource)?.[1] ?? [];
  const fields = known.get(subresource) ?? [...neverOwned, ...reset].map((path) => setOfPath(path.split('.').map(fieldElement))).reduce(union, leaf);
  known.set(subresource, fields);
  return fields;
}
