import { deepEqual } from '#api/deep-equal.ts';
import { groupKindOf, type Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { conflict, failure, notFound } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import type { ServerContext } from '../request/context.ts';
import type { Writer } from '../request/writer.ts';
import type { DeleteRequestOptions } from './delete-options.ts';
import { type DeletionPlan, planDeletion } from './deletion.ts';
import { reservationsOf } from './reservations.ts';

export interface DeleteRequest {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteRequestOptions;
  readonly writer: Writer;
}

export interface Deletion {
  /** The last state that was seen: marked, or as it was removed. */
  readonly object: IndexedObject;
  readonly isRemoved: boolean;
}

/** Marks or removes an object; again while others write in between. @throws a `StatusError`: 403, 404, 409 */
export async function deleteObject(context: ServerContext, request: DeleteRequest, signal: AbortSignal): Promise<Deletion> {
  const { registry } = context;
  const { kind, name, options, writer } = request;
  const index = registry.index(kind);
  const key = index.storage.keyOf(request.namespace, name);
  let last: IndexedObject | undefined;
  for (;;) {
    await registry.upToDate(signal);
    const entry = index.get(key);
    // Whoever ends pods may be faster with one that this request has marked: then both have had their way.
    if (entry === undefined && last !== undefined) return { object: last, isRemoved: true };
    if (entry === undefined) throw notFound(kind, name);
    const object = entry.object();
    checkPreconditions(kind, entry, options);
    const admission = {
      operation: 'DELETE',
      kind,
      subresource: '',
      namespace: request.namespace,
      name,
      object,
      previous: object,
      user: writer.user,
      isDryRun: options.isDryRun,
      warn: writer.warn,
    } as const;
    await context.admission.mutate(admission, signal);
    await context.admission.validate(admission, signal);
    const plan = planDeletion(kind, object, options, context.clock);
    if (plan.kind === 'nothing' || (plan.kind === 'mark' && deepEqual(plan.object, object))) return { object: entry, isRemoved: false };
    if (options.isDryRun) return dryRun(context, kind, entry, plan);
    let revision = entry.revision;
    if (plan.kind !== 'remove') {
      const marked = await registry.put(kind, key, plan.object, revision, 0, signal);
      if (marked.kind === 'conflict') continue;
      if (plan.kind === 'mark') return { object: marked.object, isRemoved: false };
      last = marked.object;
      revision = marked.object.revision;
    }
    const removed = await registry.delete(kind, key, revision, signal);
    if (removed.kind === 'conflict') continue;
    await reservationsOf(kind, context.reservations)?.giveUp(object, signal);
    return { object: removed.object, isRemoved: true };
  }
}

function dryRun({ registry }: ServerContext, kind: Kind, entry: IndexedObject, plan: DeletionPlan): Deletion {
  const isMarked = plan.kind === 'mark' || plan.kind === 'mark-and-remove';
  return { object: isMarked ? registry.unstored(kind, entry.key, plan.object, entry.revision) : entry, isRemoved: plan.kind !== 'mark' };
}

function checkPreconditions(kind: Kind, entry: IndexedObject, { uid, resourceVersion }: DeleteRequestOptions): void {
  const actual = entry.facts.uid;
  if (uid !== undefined && uid !== actual) {
    throw preconditionFailed(
      kind,
      entry,
      `the UID in the precondition (${uid}) does not match the UID in record (${actual}). The object might have been deleted and then recreated`,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== String(entry.revision)) {
    const record = `the ResourceVersion in record (${entry.revision})`;
    const detail = `the ResourceVersion in the precondition (${resourceVersion}) does not match ${record}. The object might have been modified`;
    throw preconditionFailed(
      kind,
      entry,
      detail,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${entry.revision}`,
    );
  }
}

/** Upstream names the kind here instead of the resource, except for namespaces. */
function preconditionFailed(kind: Kind, entry: IndexedObject, detail: string, ofNamespace: string) {
  const name = entry.object().metadata.name;
  if (kind.group === '' && kind.kind === 'Namespace') return conflict(kind, name, ofNamespace);
  const message = `Operation cannot be fulfilled on ${groupKindOf(kind)} ${quote(name)}: ${detail}`;
  return failure(409, 'Conflict', message, { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.kind });
}
