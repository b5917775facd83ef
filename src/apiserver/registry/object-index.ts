import type { KubeObject } from '#api/object.ts';
import type { StoredEntry } from '#store/storage.ts';
import type { Change } from './change.ts';
import type { IndexedObject } from './indexed-object.ts';
import type { ChangeListener } from './kind-index.ts';
import type { KindStorage } from './kind-storage.ts';

/** The objects of a kind as its verbs see them: as they are stored, or in another version. */
export interface ObjectIndex {
  /** Of the kind itself: its bytes, its selectable fields. */
  readonly storage: KindStorage;
  readonly history: PastChanges;
  get(key: string): IndexedObject | undefined;
  /** Sorted by key; never changed afterwards. @param namespace '' for all */
  list(namespace: string): readonly IndexedObject[];
  /** @param onReset called when the index was read anew: what happened in between is not known */
  subscribe(listener: ChangeListener, onReset: () => void): () => void;
  /** The bytes to commit for an object of the kind. */
  encode(key: string, object: KubeObject): Buffer;
  /** What the store holds, or held. */
  read(entry: Pick<StoredEntry, 'key' | 'value' | 'modRevision'>): IndexedObject;
}

export interface PastChanges {
  /** The oldest revision that a watch may start after. */
  readonly floor: number;
  /** Every change after the revision, or undefined when some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined;
}
