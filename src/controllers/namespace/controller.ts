import type { KindRef } from '#api/kind.ts';
import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { kinds } from '#api/kinds/index.ts';
import type { KubeObject } from '#api/object.ts';
import { messageOf } from '#base/errors.ts';
import { isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { isToBeEmptied, type Remains, released, retryAfterMs, terminatingStatus } from './plan.ts';

/** Deletes of one kind that are on their way at the same time. */
const MAX_DELETES = 16;

const contentKinds: readonly KindRef[] = kinds.filter(
  (kind) => kind.scope === 'Namespaced' && kind.verbs.includes('delete') && kind.plural !== podKind.plural && kind.storedAs === undefined,
);

/** Empties namespaces that are being deleted, pods first, and lets go of them. */
export async function runNamespaceController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const namespaces = await syncedInformer(context, namespaceKind, signal);
  const queue = new WorkQueue({ ...context, workers: 4, backoff: { baseMs: 5, maxMs: 60_000 } });
  namespaces.subscribe((change) => {
    const isNews = change.type === 'added' || (change.type === 'updated' && !isToBeEmptied(change.previous));
    if (isNews && isToBeEmptied(change.object)) queue.addAfter(change.object.metadata.name, context.timings.namespaceDelayMs);
  });
  // The end of a pod is worth a look at once: the last one holds up everything else.
  context.informers.of(podKind).subscribe(({ type, object }) => {
    const { namespace = '' } = object.metadata;
    if (type === 'deleted' && isToBeEmptied(namespaces.get(namespace))) queue.addAfter(namespace, EMPTYING_SETTLES_MS);
  });
  await queue.run(async (name, inner) => {
    const waitMs = await empty(context, name, inner);
    if (waitMs !== undefined) queue.addAfter(name, waitMs);
  }, signal);
}

/** Many pods of a namespace end at about the same time: one look for all of them. */
const EMPTYING_SETTLES_MS = 20;

/** @returns when to look again; `undefined`: there is nothing left to do */
async function empty(context: ControllerContext, name: string, signal: AbortSignal): Promise<number | undefined> {
  const { client } = context;
  const live = await client.get(namespaceKind, { name }, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (!isToBeEmptied(live)) return undefined;
  const failures: unknown[] = [];
  const pods = await deleteAll(client, podKind, name, failures, signal);
  const others = pods.objects.length > 0 ? [] : await Promise.all(contentKinds.map((kind) => deleteAll(client, kind, name, failures, signal)));
  const remains = [pods, ...others].filter(({ objects }) => objects.length > 0);
  const status = terminatingStatus(live, remains, failures.map(messageOf).sort(), timestamp(context.clock.now()));
  const told = status === live ? live : await client.updateStatus(namespaceKind, status, signal);
  if (failures.length > 0) throw failures[0];
  if (remains.length > 0) return retryAfterMs(remains);
  await client.updateSubresource(namespaceKind, released(told), 'finalize', signal);
  return undefined;
}

/** Asks for the deletion of every object of a kind in a namespace. @returns those that are still there */
async function deleteAll(client: Client, kind: KindRef, namespace: string, failures: unknown[], signal: AbortSignal): Promise<Remains> {
  try {
    const { items } = await client.list(kind, { namespace }, signal);
    const waiting = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    while (waiting.length > 0) await Promise.all(waiting.splice(0, MAX_DELETES).map((object) => deleteOne(client, kind, object, failures, signal)));
    return { kind, objects: items.length === 0 ? [] : (await client.list(kind, { namespace }, signal)).items };
  } catch (error) {
    failures.push(error);
    return { kind, objects: [] };
  }
}

async function deleteOne(client: Client, kind: KindRef, object: KubeObject, failures: unknown[], signal: AbortSignal): Promise<void> {
  try {
    await client.delete(kind, object.metadata, { propagationPolicy: 'Background', preconditions: { uid: object.metadata.uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) failures.push(error);
  }
}
