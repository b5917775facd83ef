import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { alreadyExists, alreadyExistsButDeleting, generatedNameExists, invalid, unnamedError } from '#api/status.ts';
import type { ObjectMeta } from '#api/types/meta-v1.ts';
import type { AdmissionRequest } from '../admission/admission.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { ServerContext } from '../request/context.ts';
import type { Writer } from '../request/writer.ts';
import { type Owners, ownersOfNew, withOwners, withSoundOwners } from './owners.ts';
import { putObject } from './put-object.ts';
import { reservationsOf, settled } from './reservations.ts';
import { nowSeconds } from './times.ts';

export interface NewObjectRequest {
  readonly kind: Kind;
  /** '' for cluster scope. */
  readonly namespace: string;
  readonly object: KubeObject;
  readonly writer: Writer;
  /** Absent: the writer owns what it sets. */
  readonly owners?: Owners;
}

const generatedNames = 8;
/** With the suffix a generated name is a label. */
const generatedBaseLength = 58;

/**
 * The way of a new object: default → tell owners → mutate → default → prepare → validate → admit → store.
 *
 * @throws a `StatusError`
 */
export async function createObject(context: ServerContext, request: NewObjectRequest, signal: AbortSignal): Promise<IndexedObject> {
  const { kind, namespace, writer } = request;
  const { metadata } = request.object;
  if ((metadata.resourceVersion ?? '') !== '') throw unnamedError('resourceVersion should not be set on objects to be created');
  const defaulted = kind.setDefaults({ ...request.object, metadata: cleared(metadata, kind, namespace) });
  const owners = request.owners ?? ownersOfNew(context, kind, defaulted, metadata.managedFields, writer);
  const given = withOwners(defaulted, owners);
  const admission: AdmissionRequest = {
    operation: 'CREATE',
    kind,
    subresource: '',
    namespace,
    name: given.metadata.name ?? '',
    object: given,
    previous: undefined,
    user: writer.user,
    isDryRun: writer.isDryRun,
    warn: writer.warn,
  };
  const mutated = withSoundOwners(await context.admission.mutate(admission, signal), owners, writer.warn);
  const base = mutated.metadata.generateName ?? '';
  const isGenerated = base !== '' && (given.metadata.name ?? '') === '';
  for (let left = isGenerated ? generatedNames : 1; ; left--) {
    const name = isGenerated ? `${base.slice(0, generatedBaseLength)}${context.newSuffix()}` : (mutated.metadata.name ?? '');
    const object = prepared(context, kind, mutated, name);
    await context.admission.validate({ ...admission, name, object }, signal);
    const key = context.registry.index(kind).storage.keyOf(namespace, name);
    for (const text of kind.warnings(object, undefined)) writer.warn(text);
    const reserved = await reservationsOf(kind, context.reservations)?.reserve(object, undefined, writer, signal);
    if (writer.isDryRun) return dryRun(context, kind, key, reserved?.object ?? object);
    const isApplied = request.owners !== undefined;
    const result = await settled(reserved, () => putObject(context, kind, key, reserved?.object ?? object, 0, isApplied, signal));
    if (result.kind === 'written') return result.object;
    if (left > 1) continue;
    if (base !== '') throw generatedNameExists(kind, name);
    throw existsError(context, kind, key, name);
  }
}

function prepared(context: ServerContext, kind: Kind, mutated: KubeObject, name: string): KubeObject {
  const metadata = { ...mutated.metadata, name, uid: context.newUid(), creationTimestamp: nowSeconds(context.clock) };
  const object = kind.prepareCreate(kind.setDefaults({ ...mutated, metadata }));
  const problems = kind.validate(object);
  if (problems.length > 0) throw invalid(kind, name, problems);
  return object;
}

/** What the server says itself is not taken from the client. */
function cleared(metadata: ObjectMeta, kind: Kind, namespace: string): ObjectMeta {
  const {
    uid: _uid,
    resourceVersion: _resourceVersion,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    selfLink: _selfLink,
    managedFields: _managedFields,
    namespace: _namespace,
    ...kept
  } = metadata;
  const placed = kind.scope === 'Namespaced' ? { ...kept, namespace } : kept;
  return placed as ObjectMeta; // uid and times follow before it is stored
}

function dryRun(context: ServerContext, kind: Kind, key: string, object: KubeObject): IndexedObject {
  if (context.registry.index(kind).get(key) !== undefined) throw existsError(context, kind, key, object.metadata.name);
  return context.registry.unstored(kind, key, object, 0);
}

function existsError(context: ServerContext, kind: Kind, key: string, name: string) {
  const standing = context.registry.index(kind).get(key)?.object();
  return standing?.metadata.deletionTimestamp === undefined ? alreadyExists(kind, name) : alreadyExistsButDeleting(kind, name);
}
