import { deepEqual } from '#api/deep-equal.ts';
import type { FieldProblem } from '#api/field-problem.ts';
import type { Kind, PartialUpdate } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { conflict, invalid, notFound, objectWasModified } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { Written } from '../registry/registry.ts';
import type { ServerContext } from '../request/context.ts';
import type { Writer } from '../request/writer.ts';
import { isFinished } from './deletion.ts';
import { type Owners, ownersOfChanged, sameOwners, withOwners, withSoundOwners } from './owners.ts';
import { putObject } from './put-object.ts';
import { type Reserved, reservationsOf, settled } from './reservations.ts';

export interface UpdateRequest {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** `''` takes what clients may change of the object, `status` its status alone, others what `change` returns. */
  readonly subresource: string;
  readonly writer: Writer;
  /** `tracked` (the default): the writer owns what it changes; `given`: the changed object says whose its fields are. */
  readonly owners?: 'tracked' | 'given';
  /**
   * What the client wants of the object as it is; called again when another write came in between. A resourceVersion in the result must be
   * that of the object, '' stands for any.
   */
  change(current: KubeObject): Promise<KubeObject> | KubeObject;
}

/**
 * The way of a change: read → change → default → tell owners → mutate → default → prepare → validate → admit → store; again while others write
 * in between and the client did not name the state that it means.
 *
 * @throws a `StatusError`: 404, 409, 422
 */
export async function updateObject(context: ServerContext, request: UpdateRequest, signal: AbortSignal): Promise<IndexedObject> {
  const { registry } = context;
  const { kind, name, writer } = request;
  const index = registry.index(kind);
  const key = index.storage.keyOf(request.namespace, name);
  for (;;) {
    await registry.upToDate(signal);
    const entry = index.get(key);
    if (entry === undefined) throw notFound(kind, name);
    const current = entry.object();
    const wanted = await request.change(current);
    const isNamed = (wanted.metadata.resourceVersion ?? '') !== '';
    if (isNamed && wanted.metadata.resourceVersion !== String(entry.revision)) throw conflict(kind, name, objectWasModified);
    checkUid(context, kind, key, wanted, current);
    const next = await prepared(context, request, current, wanted, signal);
    if (isSame(next, current)) return entry;
    const reserved = await reservationsOf(kind, context.reservations)?.reserve(next, current, writer, signal);
    if (writer.isDryRun) return registry.unstored(kind, key, reserved?.object ?? next, entry.revision);
    const result = await stored(context, request, entry, next, reserved, signal);
    if (result.kind === 'written') return result.object;
    if (isNamed) throw conflict(kind, name, objectWasModified);
  }
}

async function stored(
  context: ServerContext,
  { kind, owners }: UpdateRequest,
  { key, revision }: IndexedObject,
  next: KubeObject,
  reserved: Reserved | undefined,
  signal: AbortSignal,
): Promise<Written> {
  if (!isFinished(kind, next)) {
    return await settled(reserved, () => putObject(context, kind, key, reserved?.object ?? next, revision, owners === 'given', signal));
  }
  const result = await settled(reserved, () => context.registry.delete(kind, key, revision, signal));
  if (result.kind === 'written') await reservationsOf(kind, context.reservations)?.giveUp(next, signal);
  return result;
}

async function prepared(
  context: ServerContext,
  request: UpdateRequest,
  current: KubeObject,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { kind, subresource, namespace, name, writer } = request;
  const { user, isDryRun, warn } = writer;
  const defaulted = kind.setDefaults(withSystemMetadata(wanted, current));
  const owners = ownersAfter(context, request, current, wanted, defaulted);
  const given = withOwners(defaulted, owners);
  const admission = { operation: 'UPDATE', kind, subresource, namespace, name, object: given, previous: current, user, isDryRun, warn } as const;
  const mutated = withSoundOwners(await context.admission.mutate(admission, signal), owners, warn);
  const whole = mutated === given ? given : kind.setDefaults(mutated); // what admission left alone has its defaults
  const next = withOwners(preparedFor(kind, subresource, whole, current), mutated.metadata.managedFields ?? []);
  const problems = problemsOf(kind, subresource, next, current);
  if (problems.length > 0) throw invalid(kind, name, problems);
  if (subresource === '') kind.warnings(next, current).forEach(warn);
  await context.admission.validate({ ...admission, object: next }, signal);
  return next;
}

/** Upstream writes these past its tracking. */
const untracked: ReadonlySet<string> = new Set(['binding', 'eviction']);

function ownersAfter(
  context: ServerContext,
  { kind, subresource, writer, owners = 'tracked' }: UpdateRequest,
  current: KubeObject,
  wanted: KubeObject,
  defaulted: KubeObject,
): Owners {
  if (owners === 'given') return wanted.metadata.managedFields ?? [];
  if (untracked.has(subresource)) return current.metadata.managedFields ?? [];
  // What a subresource does not take is nobody's change.
  const object = partialUpdateOf(kind, subresource)?.prepare(defaulted, current) ?? defaulted;
  return ownersOfChanged(context, kind, subresource, current, object, wanted.metadata.managedFields, writer);
}

function preparedFor(kind: Kind, subresource: string, next: KubeObject, current: KubeObject): KubeObject {
  if (subresource === '') return kind.prepareUpdate(next, current);
  if (subresource === 'status') return kind.prepareStatusUpdate(next, current);
  return partialUpdateOf(kind, subresource)?.prepare(next, current) ?? next;
}

function problemsOf(kind: Kind, subresource: string, next: KubeObject, current: KubeObject): readonly FieldProblem[] {
  if (subresource === '') return kind.validateUpdate(next, current);
  if (subresource === 'status') return kind.validateStatusUpdate(next, current);
  return partialUpdateOf(kind, subresource)?.validate(next, current) ?? [];
}

function partialUpdateOf(kind: Kind, subresource: string): PartialUpdate<KubeObject> | undefined {
  return Object.entries(kind.partialUpdates).find(([name]) => name === subresource)?.[1];
}

/** What only the server says is as it was, whatever the client sent. */
function withSystemMetadata(wanted: KubeObject, current: KubeObject): KubeObject {
  const { managedFields: _managedFields, selfLink: _selfLink, deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...kept } = wanted.metadata;
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = current.metadata;
  const metadata = {
    ...kept,
    uid,
    creationTimestamp,
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
  return { ...wanted, metadata };
}

function checkUid(context: ServerContext, kind: Kind, key: string, wanted: KubeObject, current: KubeObject): void {
  const { uid } = wanted.metadata;
  if ((uid ?? '') === '' || uid === current.metadata.uid) return;
  const path = `${context.registry.index(kind).storage.prefix}${key}`;
  const detail =
    `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ` +
    `UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`;
  throw conflict(kind, current.metadata.name, detail);
}

/** Also when only the times of its owners differ: such a write is none. */
function isSame(next: KubeObject, current: KubeObject): boolean {
  return deepEqual(withoutRevision(next), withoutRevision(current)) && sameOwners(next, current);
}

function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _revision, managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubeObject['metadata'] }; // only compared
}
