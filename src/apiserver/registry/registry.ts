import { apiVersionOf, type Kind, type KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { Cell, waitFor } from '#base/watchable.ts';
import type { CommitResult, Storage, StorageEvent, StoredEntry } from '#store/storage.ts';
import type { HistoryLimits } from './history.ts';
import { type IndexedObject, StoredObject } from './indexed-object.ts';
import { KindIndex } from './kind-index.ts';
import { KindStorage, storageRoot } from './kind-storage.ts';
import type { ObjectIndex } from './object-index.ts';
import { PageSnapshots } from './page-snapshots.ts';
import { VersionView } from './version-view.ts';

/** Read in pieces, so that a large store does not stop the loop for long. */
const loadPage = 1_000;
const reloadAfterMs = 200;
/** What clients know from upstream's store. */
export const defaultHistoryMs = 300_000;
/** 75 s are what upstream's cache promises; a burst of pods makes ten changes a pod. */
const historyLimits = { keepAtLeastMs: 75_000, maxChanges: 8_192, maxBytes: 24 * 1024 * 1024 };

export type Written =
  | { readonly kind: 'written'; readonly object: IndexedObject }
  | { readonly kind: 'conflict'; readonly current: StoredEntry | undefined };

/**
 * The store's objects in memory. Reads come from the indexes, writes go to the store and are answered when the indexes have them: whoever
 * wrote finds what was written.
 */
export class Registry {
  readonly storage: Storage;
  readonly pages: PageSnapshots;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Of the kinds that are stored as they are, by their prefix. */
  readonly #stored: ReadonlyMap<string, KindIndex>;
  /** Of all kinds, by group, version and resource. */
  readonly #indexes: ReadonlyMap<string, ObjectIndex>;
  /** The revision that the indexes have reached; 0 before the first load. */
  readonly #revision = new Cell(0);
  #isFollowing = false;

  /** @param historyMs as long as the store keeps its own */
  constructor(storage: Storage, kinds: readonly Kind[], clock: Clock, logger: Logger, historyMs: number = defaultHistoryMs) {
    this.storage = storage;
    this.pages = new PageSnapshots(clock);
    this.#clock = clock;
    this.#logger = logger;
    const limits: HistoryLimits = { ...historyLimits, keepMs: historyMs, keepAtLeastMs: Math.min(historyLimits.keepAtLeastMs, historyMs) };
    const stored = kinds.filter(({ storedAs }) => storedAs === undefined).map((kind) => new KindIndex(new KindStorage(kind), limits, clock));
    this.#stored = new Map(stored.map((index) => [index.storage.kind.storagePrefix, index]));
    this.#indexes = new Map<string, ObjectIndex>([
      ...stored.map((index) => [versionOf(index.storage.kind), index] as const),
      ...kinds.flatMap((kind) => viewOf(kind, stored)),
    ]);
  }

  get revision(): number {
    return this.#revision.get();
  }

  /** Whether changes of the store arrive. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** @throws when the kind is not one of this registry's: a bug */
  index(kind: Pick<KindRef, 'group' | 'version' | 'plural'>): ObjectIndex {
    const index = this.#indexes.get(versionOf(kind));
    if (index === undefined) throw new Error(`${versionOf(kind)} is not registered`);
    return index;
  }

  /** How many objects there are of each kind. */
  sizes(): readonly { readonly kind: Kind; readonly size: number }[] {
    return [...this.#stored.values()].map((index) => ({ kind: index.storage.kind, size: index.size }));
  }

  /** Loads the store and follows it until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const revision = await this.#load(signal);
        this.#isFollowing = true;
        for await (const events of this.storage.watch('/', revision + 1, signal)) this.#apply(events);
      } catch (error) {
        this.#isFollowing = false;
        if (signal.aborted) return;
        this.#logger.error('the store cannot be followed, it is read anew', { error });
        await this.#clock.sleep(reloadAfterMs, signal).catch(() => undefined); // aborted: the loop ends
      }
    }
  }

  /** Resolves when the indexes have reached the revision. */
  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#revision.get() >= revision) return;
    await waitFor(this.#revision, (current) => current >= revision, signal);
  }

  /** Resolves when the indexes have all that was committed before the call. */
  async upToDate(signal: AbortSignal): Promise<void> {
    await this.reached(Math.max(1, this.storage.revision()), signal);
  }

  /** An object as an answer shows it that is not stored: of a dry run. @param revision 0: none */
  unstored(kind: Kind, key: string, object: KubeObject, revision: number): IndexedObject {
    const { storage } = this.index(kind);
    return StoredObject.fromBytes(storage, key, storage.encode(object), revision);
  }

  /** The objects of a kind as they were. @throws {RevisionCompacted} {@link RevisionInFuture} */
  async listAt(kind: Kind, namespace: string, revision: number, signal: AbortSignal): Promise<readonly IndexedObject[]> {
    const index = this.index(kind);
    const { storage } = index;
    const prefix = namespace === '' ? storage.prefix : `${storage.prefix}${namespace}/`;
    const { entries } = await this.storage.range(prefix, { revision, limit: 0, after: '' }, signal);
    return entries.map((entry) => index.read(entry));
  }

  /** @param expectedRevision 0: the object must not exist @param leaseId 0: it stays */
  async put(kind: Kind, key: string, object: KubeObject, expectedRevision: number, leaseId: number, signal: AbortSignal): Promise<Written> {
    const index = this.index(kind);
    const path = `${index.storage.prefix}${key}`;
    const value = index.encode(key, object);
    const result = await this.#commit(path, value, expectedRevision, leaseId, signal);
    if (result.kind === 'conflict') return result;
    // The index has the new state already, unless another write came in between.
    const known = index.get(key);
    const isKnown = known?.revision === result.revision;
    return { kind: 'written', object: isKnown ? known : index.read({ key: path, value, modRevision: result.revision }) };
  }

  async delete(kind: Kind, key: string, expectedRevision: number, signal: AbortSignal): Promise<Written> {
    const index = this.index(kind);
    const last = index.get(key);
    const result = await this.#commit(`${index.storage.prefix}${key}`, undefined, expectedRevision, 0, signal);
    if (result.kind === 'conflict') return result;
    if (last === undefined) throw new Error(`${kind.plural} ${key} was deleted at revision ${expectedRevision} without being known`);
    return { kind: 'written', object: last.at(result.revision) };
  }

  async #commit(key: string, value: Uint8Array | undefined, expectedRevision: number, leaseId: number, signal: AbortSignal): Promise<CommitResult> {
    const result = await this.storage.commit({ key, expectedRevision, value, leaseId }, signal);
    // In a conflict too: the caller reads again and must not find what it already had.
    await this.reached(result.revision, signal);
    return result;
  }

  async #load(signal: AbortSignal): Promise<number> {
    const entries = new Map<KindIndex, StoredEntry[]>();
    let revision = 0;
    for (let after = '', hasMore = true; hasMore; ) {
      const page = await this.storage.range(storageRoot, { revision, limit: loadPage, after }, signal);
      for (const entry of page.entries) this.#sortIn(entry, entries);
      revision = page.revision;
      hasMore = page.hasMore;
      after = page.entries.at(-1)?.key ?? '';
    }
    for (const index of this.#stored.values()) index.reset(entries.get(index) ?? [], revision);
    this.#revision.set(revision);
    return revision;
  }

  #sortIn(entry: StoredEntry, entries: Map<KindIndex, StoredEntry[]>): void {
    const index = this.#indexOf(entry.key);
    if (index === undefined) return; // a kind of a newer version, or another program's
    const known = entries.get(index);
    if (known === undefined) entries.set(index, [entry]);
    else known.push(entry);
  }

  #apply(events: readonly StorageEvent[]): void {
    for (const event of events) this.#indexOf(event.entry.key)?.apply(event);
    this.#revision.set(Math.max(this.#revision.get(), events.at(-1)?.entry.modRevision ?? 0));
  }

  /** A prefix has one segment (`pods`) or two (`services/specs`). */
  #indexOf(key: string): KindIndex | undefined {
    if (!key.startsWith(storageRoot)) return undefined;
    const first = key.indexOf('/', storageRoot.length);
    const second = key.indexOf('/', first + 1);
    return (
      this.#stored.get(key.slice(storageRoot.length, first)) ?? (second < 0 ? undefined : this.#stored.get(key.slice(storageRoot.length, second)))
    );
  }
}

function versionOf(kind: Pick<KindRef, 'group' | 'version' | 'plural'>): string {
  return `${apiVersionOf(kind)}/${kind.plural}`;
}

function viewOf(kind: Kind, stored: readonly KindIndex[]): readonly (readonly [string, ObjectIndex])[] {
  const { storedAs } = kind;
  if (storedAs === undefined) return [];
  const name = versionOf(storedAs.kind());
  const base = stored.find((index) => versionOf(index.storage.kind) === name);
  if (base === undefined) throw new Error(`${versionOf(kind)} is stored as ${name}, which is not registered`);
  return [[versionOf(kind), new VersionView(new KindStorage(kind, base.storage.prefix), base, storedAs)]];
}
