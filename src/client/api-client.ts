import { apiVersionOf, type KindRef } from '#api/kind.ts';
import type { KubeObject, NewObject, ObjectList, WatchEvent } from '#api/object.ts';
import type { Status } from '#api/types/meta-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { ApiError, apiErrorOf, MalformedAnswer } from './api-error.ts';
import type { Client, DeleteOptions, ListOptions, ObjectName, PatchType, WatchOptions } from './client.ts';
import { accept, type DiscoveryAnswer, kindsOf } from './discovery.ts';
import { lines, textOf } from './json-lines.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface ClientOptions {
  readonly userAgent?: string | undefined;
  /** Ends every call but a watch that takes longer. Absent: the caller's signal is the only limit. */
  readonly deadline?: { readonly ms: number; readonly clock: Clock } | undefined;
}

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** A client that speaks JSON over any transport. Stateless: any number may share a transport. */
export function createClient(transport: Transport, options: ClientOptions = {}): Client {
  const exchange = new Exchange(transport, options);
  return {
    get: <T extends KubeObject>(kind: KindRef<T>, ref: ObjectName, signal: AbortSignal) =>
      exchange.call<T>({ method: 'GET', path: objectPath(kind, ref) }, signal),
    async list<T extends KubeObject>(kind: KindRef<T>, wanted: ListOptions, signal: AbortSignal) {
      const answer = await exchange.call<ListAnswer<T>>(
        {
          method: 'GET',
          path: collectionPath(kind, wanted.namespace),
          query: listQuery(wanted),
          accept: acceptOf(wanted, 'PartialObjectMetadataList'),
        },
        signal,
      );
      return objectList(kind, answer);
    },
    watch: <T extends KubeObject>(kind: KindRef<T>, wanted: WatchOptions, signal: AbortSignal) =>
      exchange.watch<T>(
        { method: 'GET', path: collectionPath(kind, wanted.namespace), query: watchQuery(wanted), accept: acceptOf(wanted, 'PartialObjectMetadata') },
        wanted.metadataOnly === true ? { apiVersion: apiVersionOf(kind), kind: kind.kind } : {},
        signal,
      ),
    create: <T extends KubeObject>(kind: KindRef<T>, object: NewObject<T>, signal: AbortSignal) =>
      exchange.call<T>({ method: 'POST', path: collectionPath(kind, object.metadata.namespace), body: withType(kind, object) }, signal),
    update: <T extends KubeObject>(kind: KindRef<T>, object: T, signal: AbortSignal) => exchange.put(kind, object, '', signal),
    updateStatus: <T extends KubeObject>(kind: KindRef<T>, object: T, signal: AbortSignal) => exchange.put(kind, object, 'status', signal),
    updateSubresource: <T extends KubeObject>(kind: KindRef<T>, object: T, subresource: string, signal: AbortSignal) =>
      exchange.put(kind, object, subresource, signal),
    patch: <T extends KubeObject>(kind: KindRef<T>, ref: ObjectName, type: PatchType, patch: unknown, subresource: string, signal: AbortSignal) =>
      exchange.call<T>({ method: 'PATCH', path: objectPath(kind, ref, subresource), body: patch, contentType: patchContentTypes[type] }, signal),
    async delete(kind: KindRef, ref: ObjectName, wanted: DeleteOptions, signal: AbortSignal) {
      await exchange.call({ method: 'DELETE', path: objectPath(kind, ref), body: { kind: 'DeleteOptions', apiVersion: 'v1', ...wanted } }, signal);
    },
    discover: async (signal: AbortSignal) => {
      const [core, named] = await Promise.all(
        ['/api', '/apis'].map((path) => exchange.call<DiscoveryAnswer>({ method: 'GET', path, accept }, signal)),
      );
      return [...kindsOf(core), ...kindsOf(named)];
    },
    createSubresource: <Answer>(kind: KindRef, ref: ObjectName, subresource: string, body: unknown, signal: AbortSignal) =>
      exchange.call<Answer>({ method: 'POST', path: objectPath(kind, ref, subresource), body }, signal),
  };
}

interface Call {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Absent: JSON. */
  readonly accept?: string | undefined;
}

interface ListAnswer<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[] | null;
}

type WatchLine<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status };

class Exchange {
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(transport: Transport, options: ClientOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  put<T extends KubeObject>(kind: KindRef<T>, object: T, subresource: string, signal: AbortSignal): Promise<T> {
    return this.call<T>({ method: 'PUT', path: objectPath(kind, object.metadata, subresource), body: withType(kind, object) }, signal);
  }

  async call<Answer>(call: Call, signal: AbortSignal): Promise<Answer> {
    const deadline = this.#options.deadline;
    const work = async (inner: AbortSignal): Promise<Answer> => {
      const response = await this.#send(call, inner);
      const text = await textOf(response.body);
      if (response.status >= 300) throw failureOf(text, response.status);
      return parse(text, `${call.method} ${call.path}`) as Answer; // the API's promise; what it names is checked by the server
    };
    return deadline === undefined ? await work(signal) : await withDeadline(`${call.method} ${call.path}`, deadline.ms, deadline.clock, signal, work);
  }

  /** @param type takes the place of what the objects say they are */
  async *watch<T extends KubeObject>(call: Call, type: Partial<KubeObject>, signal: AbortSignal): AsyncGenerator<WatchEvent<T>, void, void> {
    const response = await this.#send(call, signal);
    if (response.status >= 300) throw failureOf(await textOf(response.body), response.status);
    for await (const line of lines(response.body)) {
      const event = parse(line, `watch of ${call.path}`) as WatchLine<T>;
      if (event.type === 'ERROR') throw apiErrorOf(event.object, 500);
      if (event.type === 'BOOKMARK') yield { type: 'BOOKMARK', resourceVersion: event.object.metadata.resourceVersion };
      else yield { ...event, object: { ...event.object, ...type } };
    }
  }

  #send(call: Call, signal: AbortSignal): Promise<TransportResponse> {
    const { userAgent } = this.#options;
    const headers = {
      accept: call.accept ?? 'application/json',
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
    };
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    return this.#transport.send({ method: call.method, path: call.path, query: call.query ?? new URLSearchParams(), headers, body }, signal);
  }
}

function acceptOf({ metadataOnly }: Pick<ListOptions, 'metadataOnly'>, form: string): string | undefined {
  return metadataOnly === true ? `application/json;as=${form};g=meta.k8s.io;v=v1` : undefined;
}

/** Path of a kind's list; without a namespace that of all of them. */
function collectionPath(kind: KindRef, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const inNamespace = kind.scope === 'Namespaced' && namespace !== undefined && namespace !== '';
  return `${root}${inNamespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''}/${kind.plural}`;
}

function objectPath(kind: KindRef, ref: ObjectName, subresource = ''): string {
  return `${collectionPath(kind, ref.namespace)}/${encodeURIComponent(ref.name)}${subresource === '' ? '' : `/${subresource}`}`;
}

function listQuery(options: ListOptions): URLSearchParams {
  return queryOf({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    limit: options.limit,
    continue: options.continueToken,
  });
}

function watchQuery(options: WatchOptions): URLSearchParams {
  return queryOf({
    watch: 'true',
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    allowWatchBookmarks: options.allowBookmarks,
    timeoutSeconds: options.timeoutSeconds,
  });
}

function queryOf(values: Readonly<Record<string, string | number | boolean | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query;
}

function withType(kind: KindRef, object: object): object {
  return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** Items of a list carry no type on the wire: they get it here, so that an object is the same wherever it came from. */
function objectList<T extends KubeObject>(kind: KindRef<T>, answer: ListAnswer<T>): ObjectList<T> {
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return {
    items: (answer.items ?? []).map((item) => ({ ...item, ...type })),
    resourceVersion: answer.metadata?.resourceVersion ?? '',
    continueToken: answer.metadata?.continue ?? '',
  };
}

function failureOf(text: string, httpStatus: number): ApiError {
  try {
    const status = JSON.parse(text) as Partial<Status> & { readonly kind?: unknown };
    if (status.kind === 'Status') return apiErrorOf(status, httpStatus);
  } catch {
    // not from an API server, a proxy's page for example: its text is all there is to say
  }
  return new ApiError({ message: `the server answered ${httpStatus}: ${text.slice(0, 200).trim()}`, status: httpStatus, reason: 'Unknown' });
}

function parse(text: string, doing: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MalformedAnswer({ message: `${doing}: the answer is not JSON`, cause });
  }
}
