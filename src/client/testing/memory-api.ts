import { objectKey } from '#api/object.ts';
import { throwIfAborted } from '#base/abort.ts';
import { Channel } from '#base/channel.ts';
import { Unavailable } from '#base/errors.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { applyMergePatch } from './merge-patch.ts';
import { parsePath, type ResourcePath } from './resource-path.ts';

/** An object as it is stored: whatever was sent, with metadata. */
export interface StoredObject {
  readonly [field: string]: unknown;
  readonly metadata: StoredMeta;
}

interface StoredMeta {
  readonly [field: string]: unknown;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

interface StoredEvent {
  readonly revision: number;
  readonly resource: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
}

interface Watcher {
  readonly resource: string;
  readonly matches: (object: StoredObject) => boolean;
  readonly channel: Channel<string>;
}

/**
 * A transport to an API server that keeps its objects in memory, for tests of clients: create, get, list, watch, update, patch (lists of
 * conditions and taints merge by their key), delete with grace and finalizers, `pods/binding`. It does not default, validate or authorize.
 */
export class MemoryApi implements Transport {
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #watchers = new Set<Watcher>();
  #history: StoredEvent[] = [];
  #revision = 100;
  #compactedAt = 0;
  #unreachable = false;
  readonly #faults: { readonly matches: (request: TransportRequest) => boolean; readonly status: number; readonly reason: string }[] = [];
  /** What was asked, as `METHOD path`. */
  readonly requests: string[] = [];

  /** Objects of a resource such as `pods` or `leases.coordination.k8s.io`. */
  objects<T = StoredObject>(resource: string): readonly T[] {
    return [...(this.#objects.get(resource)?.values() ?? [])] as unknown as T[]; // the test says what it stored
  }

  /** Stores an object as it is, metadata included; its resourceVersion is set. */
  put(resource: string, object: object): void {
    const stored = object as StoredObject; // tests give whole objects
    const type = this.#objects.get(resource)?.has(objectKey(stored.metadata)) ? 'MODIFIED' : 'ADDED';
    this.#commit(type, resource, stored);
  }

  /** Forgets the past: watches from before now are answered with 410. */
  compact(): void {
    this.#compactedAt = this.#revision;
    this.#history = [];
  }

  /** Tells every open watch how far it is. */
  bookmark(): void {
    const object = { metadata: { resourceVersion: String(this.#revision) } };
    for (const watcher of this.#watchers) watcher.channel.push(watchLine('BOOKMARK', object));
  }

  /** Ends every open watch, as a server does that restarts. */
  dropWatches(): void {
    for (const watcher of this.#watchers) watcher.channel.close();
    this.#watchers.clear();
  }

  setUnreachable(unreachable: boolean): void {
    this.#unreachable = unreachable;
    if (unreachable) this.dropWatches();
  }

  /** Answers the next request that matches with a failure. */
  failOnce(matches: (request: TransportRequest) => boolean, status: number, reason: string): void {
    this.#faults.push({ matches, status, reason });
  }

  get openWatches(): number {
    return this.#watchers.size;
  }

  async close(): Promise<void> {
    this.dropWatches();
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    throwIfAborted(signal);
    this.requests.push(`${request.method} ${request.path}`);
    if (this.#unreachable) throw new Unavailable({ message: 'the server cannot be reached' });
    const fault = this.#faults.findIndex((one) => one.matches(request));
    const [failing] = fault < 0 ? [] : this.#faults.splice(fault, 1);
    if (failing !== undefined) return failure(failing.status, failing.reason, 'as the test asked');
    const path = parsePath(request.path);
    const sent: unknown = request.body === undefined ? undefined : JSON.parse(request.body.toString());
    switch (request.method) {
      case 'GET':
        return path.name === undefined ? this.#collection(path, request.query, signal) : this.#found(path, (object) => success(object));
      case 'POST':
        return path.subresource === '' ? this.#create(path, sent as StoredObject) : this.#bind(path, sent);
      case 'PUT':
        return this.#found(path, (object) => this.#update(path, object, sent as StoredObject));
      case 'PATCH':
        return this.#found(path, (object) => this.#update(path, object, applyMergePatch(object, sent) as StoredObject));
      case 'DELETE':
        return this.#found(path, (object) => this.#delete(path, object, sent));
    }
  }

  #collection(path: ResourcePath, query: URLSearchParams, signal: AbortSignal): TransportResponse {
    const matches = matcher(path, query);
    if (query.get('watch') === 'true') return this.#watch(path.resource, matches, Number(query.get('resourceVersion') ?? 0), signal);
    const items = this.objects(path.resource).filter(matches);
    return success({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(this.#revision) }, items });
  }

  #watch(resource: string, matches: (object: StoredObject) => boolean, from: number, signal: AbortSignal): TransportResponse {
    const channel = new Channel<string>();
    const watcher = { resource, matches, channel };
    if (from < this.#compactedAt) {
      channel.push(watchLine('ERROR', statusOf(410, 'Expired', `too old resource version: ${from} (${this.#compactedAt})`)));
      channel.close();
    } else {
      for (const event of this.#history) if (event.revision > from) deliver(watcher, event);
      this.#watchers.add(watcher);
    }
    const encoder = new TextEncoder();
    const forget = () => this.#watchers.delete(watcher);
    async function* body(): AsyncGenerator<Uint8Array, void, void> {
      try {
        for await (const line of channel.take(signal)) yield encoder.encode(line);
      } finally {
        forget();
      }
    }
    return { status: 200, headers: {}, body: body() };
  }

  #create(path: ResourcePath, sent: StoredObject): TransportResponse {
    const name = sent.metadata.name ?? `${String(sent.metadata['generateName'])}${(this.#revision + 1).toString(36)}`;
    const key = objectKey({ name, namespace: path.namespace });
    if (this.#objects.get(path.resource)?.has(key)) return failure(409, 'AlreadyExists', `${path.resource} "${name}" already exists`);
    const namespace = path.namespace === undefined ? {} : { namespace: path.namespace };
    const uid = `uid-${this.#revision + 1}`;
    const metadata = { ...sent.metadata, ...namespace, name, uid, creationTimestamp: '2030-01-01T00:00:00Z' };
    return success(this.#commit('ADDED', path.resource, { ...sent, metadata }), 201);
  }

  #bind(path: ResourcePath, sent: unknown): TransportResponse {
    return this.#found(path, (object) => {
      const spec = object['spec'] as { readonly nodeName?: string };
      if (spec.nodeName) return failure(409, 'Conflict', `pod ${path.name} is already assigned to node "${spec.nodeName}"`);
      const { target } = sent as { readonly target: { readonly name: string } };
      const conditions = [{ type: 'PodScheduled', status: 'True' }];
      const bound = applyMergePatch(object, { spec: { nodeName: target.name }, status: { conditions } }) as StoredObject;
      this.#commit('MODIFIED', path.resource, bound);
      return success(statusOf(201, '', ''), 201);
    });
  }

  #update(path: ResourcePath, current: StoredObject, next: StoredObject): TransportResponse {
    const expected = next.metadata.resourceVersion ?? current.metadata.resourceVersion;
    if (expected !== current.metadata.resourceVersion) return failure(409, 'Conflict', 'the object has been modified');
    const kept = path.subresource === 'status' ? { ...current, status: next['status'] } : next;
    const { uid, deletionTimestamp } = current.metadata;
    const metadata = { ...kept.metadata, uid, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
    const object = { ...kept, metadata };
    // What held a marked object lets go of it; a pod's end is the kubelet's to say.
    const isOver = deletionTimestamp !== undefined && !isHeld(object) && path.resource !== 'pods';
    return success(this.#commit(isOver ? 'DELETED' : 'MODIFIED', path.resource, object));
  }

  #delete(path: ResourcePath, object: StoredObject, sent: unknown): TransportResponse {
    const options = (sent ?? {}) as { readonly gracePeriodSeconds?: number; readonly preconditions?: { readonly uid?: string } };
    const uid = options.preconditions?.uid;
    if (uid !== undefined && uid !== object.metadata.uid) return failure(409, 'Conflict', 'the UID in the precondition does not match');
    const spec = (object['spec'] ?? {}) as { readonly nodeName?: string };
    const isGraceful = path.resource === 'pods' && spec.nodeName !== undefined && options.gracePeriodSeconds !== 0;
    const marked = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
    if (isGraceful || isHeld(object)) return success(this.#commit('MODIFIED', path.resource, marked));
    return success(this.#commit('DELETED', path.resource, object));
  }

  #found(path: ResourcePath, act: (object: StoredObject) => TransportResponse): TransportResponse {
    const object = this.#objects.get(path.resource)?.get(objectKey({ name: path.name ?? '', namespace: path.namespace }));
    return object === undefined ? failure(404, 'NotFound', `${path.resource} "${path.name}" not found`) : act(object);
  }

  #commit(type: StoredEvent['type'], resource: string, given: StoredObject): StoredObject {
    this.#revision += 1;
    const object = { ...given, metadata: { ...given.metadata, resourceVersion: String(this.#revision) } };
    const objects = this.#objects.get(resource) ?? new Map<string, StoredObject>();
    this.#objects.set(resource, objects);
    if (type === 'DELETED') objects.delete(objectKey(object.metadata));
    else objects.set(objectKey(object.metadata), object);
    const event = { revision: this.#revision, resource, type, object };
    this.#history.push(event);
    for (const watcher of this.#watchers) deliver(watcher, event);
    return object;
  }
}

/** Whether a finalizer, of the object or of a namespace's content, keeps it from going. */
function isHeld(object: StoredObject): boolean {
  const spec = (object['spec'] ?? {}) as { readonly finalizers?: readonly string[] };
  return (object.metadata.finalizers ?? []).length > 0 || (spec.finalizers ?? []).length > 0;
}

function deliver(watcher: Watcher, event: StoredEvent): void {
  if (watcher.resource === event.resource && watcher.matches(event.object)) watcher.channel.push(watchLine(event.type, event.object));
}

function watchLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Equality terms of label selectors; `metadata.name`, `spec.nodeName` and the like of field selectors. */
function matcher(path: ResourcePath, query: URLSearchParams): (object: StoredObject) => boolean {
  const terms = (text: string | null) => (text === null ? [] : text.split(',').map((term) => term.split(/==?/)));
  const labels = terms(query.get('labelSelector'));
  const fields = terms(query.get('fieldSelector'));
  const field = (object: unknown, name: string) =>
    name.split('.').reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>> | undefined)?.[part], object) ?? '';
  return (object) =>
    (path.namespace === undefined || object.metadata.namespace === path.namespace) &&
    labels.every(([name = '', value]) => object.metadata.labels?.[name] === value) &&
    fields.every(([name = '', value]) => field(object, name) === value);
}

function success(value: unknown, status = 200): TransportResponse {
  return answer(status, value);
}

function failure(status: number, reason: string, message: string): TransportResponse {
  return answer(status, statusOf(status, reason, message));
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: code < 300 ? 'Success' : 'Failure', message, reason, code };
}

function answer(status: number, value: unknown): TransportResponse {
  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    yield new TextEncoder().encode(JSON.stringify(value));
  }
  return { status, headers: { 'content-type': 'application/json' }, body: body() };
}
