import { deepEqual } from '#api/deep-equal.ts';
import { objectKey } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { staticAnnotation } from './static-annotations.ts';

export interface SetChange {
  readonly removed: readonly Pod[];
  /** New ones and those that differ. */
  readonly changed: readonly Pod[];
  /** Left out: another pod of the same set has their name. */
  readonly duplicates: readonly Pod[];
}

/** The pods that one source of static pods has; each delivery is whole, what comes out of it is the difference. */
export class StaticSet {
  #pods: ReadonlyMap<string, Pod> = new Map();

  /** @param seenAt what a new pod gets as the time at which it was seen first */
  replace(pods: readonly Pod[], seenAt: string): SetChange {
    const names = new Map<string, string>();
    const next = new Map<string, Pod>();
    const duplicates: Pod[] = [];
    const changed: Pod[] = [];
    for (const pod of pods) {
      const key = objectKey(pod.metadata);
      const { uid } = pod.metadata;
      if (names.has(key) || next.has(uid)) {
        duplicates.push(pod);
        continue;
      }
      names.set(key, uid);
      const before = this.#pods.get(uid);
      const seen = withSeen(pod, before?.metadata.annotations?.[staticAnnotation.seen] ?? seenAt);
      const isSame = before !== undefined && deepEqual(before, seen);
      next.set(uid, isSame ? before : seen);
      if (!isSame) changed.push(seen);
    }
    const removed = [...this.#pods.values()].filter(({ metadata }) => !next.has(metadata.uid));
    this.#pods = next;
    return { removed, changed, duplicates };
  }
}

function withSeen(pod: Pod, seen: string): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [staticAnnotation.seen]: seen } } };
}
