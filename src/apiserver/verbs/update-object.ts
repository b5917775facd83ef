import { deepEqual } from '#api/deep-equal.ts';
import type { FieldProblem } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { conflict, invalid, notFound, objectWasModified } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { ServerContext } from '../request/context.ts';
import type { User } from '../request/user.ts';
import { isFinished } from './deletion.ts';

export interface UpdateRequest {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** `''` takes what clients may change of the object, `status` its status alone, others what `change` returns. */
  readonly subresource: string;
  readonly user: User;
  readonly isDryRun: boolean;
  /**
   * What the client wants of the object as it is; called again when another write came in between. A resourceVersion in the result must be
   * that of the object, '' stands for any.
   */
  change(current: KubeObject): Promise<KubeObject> | KubeObject;
}

/**
 * The way of a change: read → change → admit → default → prepare → validate → admit → store; again while others write in between and the
 * client did not name the state that it means.
 *
 * @throws a `StatusError`: 404, 409, 422
 */
export async function updateObject(context: ServerContext, request: UpdateRequest, signal: AbortSignal): Promise<IndexedObject> {
  const { registry } = context;
  const { kind, name } = request;
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
    if (deepEqual(withoutRevision(next), withoutRevision(current))) return entry;
    if (request.isDryRun) return registry.unstored(kind, key, next, entry.revision);
    const result = isFinished(kind, next)
      ? await registry.delete(kind, key, entry.revision, signal)
      : await registry.put(kind, key, next, entry.revision, await context.leases.leaseFor(kind, signal), signal);
    if (result.kind === 'written') return result.object;
    if (isNamed) throw conflict(kind, name, objectWasModified);
  }
}

async function prepared(
  context: ServerContext,
  request: UpdateRequest,
  current: KubeObject,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { kind, subresource, namespace, name, user } = request;
  const given = withSystemMetadata(wanted, current);
  const admission = { operation: 'UPDATE', kind, subresource, namespace, name, object: given, previous: current, user } as const;
  const mutated = kind.setDefaults(await context.admission.mutate(admission, signal));
  const next = preparedFor(kind, subresource, mutated, current);
  const problems = problemsOf(kind, subresource, next, current);
  if (problems.length > 0) throw invalid(kind, name, problems);
  await context.admission.validate({ ...admission, object: next }, signal);
  return next;
}

function preparedFor(kind: Kind, subresource: string, next: KubeObject, current: KubeObject): KubeObject {
  if (subresource === '') return kind.prepareUpdate(next, current);
  return subresource === 'status' ? kind.prepareStatusUpdate(next, current) : next;
}

function problemsOf(kind: Kind, subresource: string, next: KubeObject, current: KubeObject): readonly FieldProblem[] {
  if (subresource === '') return kind.validateUpdate(next, current);
  return subresource === 'status' ? kind.validateStatusUpdate(next, current) : [];
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

function withoutRevision(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubeObject['metadata'] }; // only compared
}
