import type { Volume } from '#api/types/core-v1.ts';

/** What is known of a volume that containers may use. */
export interface VolumeState {
  /** Something that its content is made of has changed. */
  readonly isStale: boolean;
  /** Epoch: from here on its content is out of date. */
  readonly refreshAtMs: number | undefined;
}

/** A `set-up` holds the pod until it succeeds; a `refresh` that fails leaves the old content in use. */
export interface VolumeAction {
  readonly kind: 'set-up' | 'refresh';
  readonly volume: Volume;
}

export function planVolumes(wanted: readonly Volume[], present: ReadonlyMap<string, VolumeState>, nowMs: number): readonly VolumeAction[] {
  return wanted.flatMap((volume): readonly VolumeAction[] => {
    const state = present.get(volume.name);
    if (state === undefined) return [{ kind: 'set-up', volume }];
    const isOld = state.isStale || (state.refreshAtMs !== undefined && state.refreshAtMs <= nowMs);
    return isOld ? [{ kind: 'refresh', volume }] : [];
  });
}

/** When the first of them falls due. */
export function nextRefreshMs(present: Iterable<VolumeState>): number | undefined {
  const times = [...present].flatMap(({ refreshAtMs }) => refreshAtMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
