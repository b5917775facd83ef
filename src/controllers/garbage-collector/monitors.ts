import { apiVersionOf, type KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { ObjectMeta } from '#api/types/meta-v1.ts';
import { withDeadline } from '#base/abort.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { DiscoveredKind } from '#client/client.ts';
import { createInformer } from '#client/informer.ts';
import type { Informer, ObjectChange } from '#client/informer-port.ts';
import type { ControllerContext } from '../context.ts';
import type { ObjectIdentity } from './identity.ts';

export interface MonitorListener {
  /** @param metadata undefined: the object is gone */
  changed(identity: ObjectIdentity, metadata: ObjectMeta | undefined): void;
  /** The objects of a kind that the server no longer has: nobody can say what became of them. */
  lost(uid: string): void;
}

interface Monitor {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
  readonly unsubscribe: () => void;
}

/** A list that cannot be had does not hold up the others for longer. */
const SYNC_WITHIN_MS = 5000;

/** Follows the metadata of every object that can be deleted. */
export class Monitors {
  readonly #context: ControllerContext;
  readonly #listener: MonitorListener;
  readonly #tasks: TaskGroup;
  readonly #monitors = new Map<string, Monitor>();
  /** By version and kind. */
  #kinds: ReadonlyMap<string, KindRef> = new Map();

  constructor(context: ControllerContext, listener: MonitorListener) {
    this.#context = context;
    this.#listener = listener;
    this.#tasks = new TaskGroup((kind, error) => context.logger.error('a monitor ended', { kind, error: String(error) }));
  }

  /** How objects of this type are reached; undefined when the server does not have it. */
  kindOf({ apiVersion, kind }: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): KindRef | undefined {
    return this.#kinds.get(`${apiVersion}/${kind}`);
  }

  /** Begins to follow what is new, one kind after the other, and ends with what is no longer there. */
  async refresh(signal: AbortSignal): Promise<void> {
    const found = await this.#context.client.discover(signal);
    this.#kinds = new Map(found.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
    const wanted = followed(found);
    for (const [name, monitor] of this.#monitors) {
      if (!wanted.has(name)) this.#end(name, monitor);
    }
    for (const [name, kind] of wanted) {
      if (!this.#monitors.has(name)) await this.#begin(name, kind, signal);
    }
  }

  async close(): Promise<void> {
    for (const { stop, unsubscribe } of this.#monitors.values()) {
      stop.abort();
      unsubscribe();
    }
    await this.#tasks.close();
  }

  async #begin(name: string, kind: KindRef, signal: AbortSignal): Promise<void> {
    const { client, informers, clock, logger } = this.#context;
    const shared = informers.present(kind);
    const informer = shared ?? createInformer<KubeObject>(client, kind, { metadataOnly: true, keep }, { clock, logger });
    const stop = new AbortController();
    const apiVersion = apiVersionOf(kind);
    const unsubscribe = informer.subscribe((change) => this.#tell(apiVersion, kind.kind, change));
    this.#monitors.set(name, { informer, stop, unsubscribe });
    if (shared === undefined) this.#tasks.run(name, (ended) => informer.run(AbortSignal.any([ended, stop.signal])));
    try {
      await withDeadline(`the list of ${name}`, SYNC_WITHIN_MS, clock, signal, (inner) => informer.synced(inner));
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      logger.warn('a kind cannot be followed yet', { kind: name });
    }
  }

  #end(name: string, { informer, stop, unsubscribe }: Monitor): void {
    this.#monitors.delete(name);
    unsubscribe();
    stop.abort();
    for (const { metadata } of informer.list()) this.#listener.lost(metadata.uid);
  }

  #tell(apiVersion: string, kind: string, { type, object: { metadata } }: ObjectChange<KubeObject>): void {
    const { namespace = '', name, uid } = metadata;
    this.#listener.changed({ apiVersion, kind, namespace, name, uid }, type === 'deleted' ? undefined : metadata);
  }
}

/** Each resource in one version, with what it takes to follow and to delete it. Events own nothing, are owned by nothing, and are many. */
function followed(found: readonly DiscoveredKind[]): ReadonlyMap<string, KindRef> {
  const wanted = new Map<string, KindRef>();
  for (const kind of found) {
    const name = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
    const isUsable = ['delete', 'list', 'watch'].every((verb) => kind.verbs.includes(verb));
    if (isUsable && !wanted.has(name) && name !== 'events' && name !== 'events.events.k8s.io') wanted.set(name, kind);
  }
  return wanted;
}

/** What the graph is made of; the rest would only take room. */
function keep({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { namespace, name, uid, resourceVersion, ownerReferences, finalizers, creationTimestamp, deletionTimestamp } = metadata;
  const kept = { namespace, name, uid, resourceVersion, ownerReferences, finalizers, creationTimestamp, deletionTimestamp };
  return { apiVersion, kind, metadata: kept };
}
