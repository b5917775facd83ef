import type { Watchable } from '#base/watchable.ts';

export interface NetworkState {
  readonly ready: boolean;
  /** Why not, in the runtime's words. */
  readonly detail: string;
}

/** What the runtime says of itself; one watcher keeps it up to date for all pods. */
export interface RuntimeHealthPort {
  readonly network: Watchable<NetworkState>;
  readonly runtimeReady: Watchable<boolean>;
}
