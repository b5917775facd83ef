import { apiVersionOf } from '#api/kind.ts';
import { badRequest, notFound } from '#api/status.ts';
import { Channel } from '#base/channel.ts';
import { InvalidInput } from '#base/errors.ts';
import { type BatchAnswer, type PodStartup, type PodStartupBatch, podStartups } from '#startup/pod-startup.ts';
import type { StartupRecords } from '#startup/records.ts';
import type { ApiResponse, Route, RoutedRequest } from '../request/route.ts';

/**
 * Serves `podstartups` of the group `kubernode.dev` from memory. Nodes send their part with a POST of a `PodStartupBatch` to the collection;
 * the answer says whether somebody watches, so that they know how soon to send the next one.
 */
export function podStartupsRoute(records: StartupRecords): Route {
  return {
    name: podStartups.plural,
    matches: (info) => info.kind === 'resource' && info.group === podStartups.group && info.resource === podStartups.plural,
    discovery: { ...podStartups, singular: 'podstartup', shortNames: ['pst'], verbs: ['create', 'get', 'list', 'watch'] },
    async handle(request, signal) {
      if (request.info.kind !== 'resource') throw badRequest('not a resource request');
      const namespace = request.info.namespace === '' ? undefined : request.info.namespace;
      switch (request.info.verb) {
        case 'create':
          records.addBatch(parseBatch(await request.body(signal)));
          return json(201, { isWatched: records.isWatched } satisfies BatchAnswer);
        case 'get': {
          const record = records.get(request.info.namespace, request.info.name);
          if (record === undefined) throw notFound(podStartups, request.info.name);
          return json(200, record);
        }
        case 'list':
          return json(200, listOf(wanted(records, namespace, request.info.name)));
        case 'watch':
          return { status: 200, headers: { 'content-type': 'application/json' }, body: watch(records, namespace, request, signal) };
        default:
          throw badRequest(`podstartups are read, not changed: ${request.info.verb} is not offered`);
      }
    },
  };
}

/** A reader that is this far behind is cut off; it lists again. */
const watchBacklog = 1000;

async function* watch(
  records: StartupRecords,
  namespace: string | undefined,
  request: RoutedRequest,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const name = request.info.kind === 'resource' ? request.info.name : '';
  const changed = new Channel<PodStartup>();
  const seen = new Set<string>();
  const unsubscribe = records.subscribe((record) => {
    if (!matches(record, namespace, name)) return;
    if (changed.size >= watchBacklog) changed.close();
    else changed.push(record);
  });
  try {
    for (const record of wanted(records, namespace, name)) {
      seen.add(record.metadata.uid);
      yield line('ADDED', record);
    }
    for await (const record of changed.take(signal)) {
      yield line(seen.has(record.metadata.uid) ? 'MODIFIED' : 'ADDED', record);
      seen.add(record.metadata.uid);
    }
  } finally {
    unsubscribe();
  }
}

function wanted(records: StartupRecords, namespace: string | undefined, name: string): readonly PodStartup[] {
  return records.list(namespace).filter((record) => matches(record, namespace, name));
}

function matches(record: PodStartup, namespace: string | undefined, name: string): boolean {
  return (namespace === undefined || record.metadata.namespace === namespace) && (name === '' || record.metadata.name === name);
}

function listOf(items: readonly PodStartup[]): object {
  return { kind: `${podStartups.kind}List`, apiVersion: apiVersionOf(podStartups), metadata: { resourceVersion: '' }, items };
}

function line(type: string, object: PodStartup): Uint8Array {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

function json(status: number, body: object): ApiResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
}

/** The body is a kubelet's of our own: its outer shape is looked at, its figures are shown as they are. */
function parseBatch(body: Uint8Array): PodStartupBatch {
  let batch: unknown;
  try {
    batch = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch (cause) {
    throw new InvalidInput({ message: 'the start-up records are not JSON', cause });
  }
  if (!isBatch(batch)) throw badRequest('the start-up records have no nodeName, or an item without namespace, name, uid or steps');
  return batch;
}

function isBatch(value: unknown): value is PodStartupBatch {
  if (typeof value !== 'object' || value === null || !('nodeName' in value) || !('items' in value)) return false;
  return typeof value.nodeName === 'string' && Array.isArray(value.items) && value.items.every(isPart);
}

function isPart(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { namespace, name, uid, steps } = value as Readonly<Record<string, unknown>>; // an object, as the line above saw
  return typeof namespace === 'string' && typeof name === 'string' && typeof uid === 'string' && Array.isArray(steps);
}
