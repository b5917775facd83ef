/** What can end a wait. */
export type WakeKey =
  | { readonly kind: 'object'; readonly ref: `${string}/${string}/${string}` }
  | { readonly kind: 'runtime' }
  | { readonly kind: 'volume'; readonly name: string }
  | { readonly kind: 'image'; readonly ref: string }
  | { readonly kind: 'network' }
  | { readonly kind: 'time' };

export type StepState =
  | { readonly kind: 'started' }
  | { readonly kind: 'done' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly detail: string; readonly wakeOn: readonly WakeKey[]; readonly atLatestMs: number }
  | { readonly kind: 'rejected'; readonly reason: string; readonly detail: string; readonly word?: string }
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };

/** Times of one call to the runtime inside a step. */
export interface RuntimeCall {
  readonly name: string;
  readonly startedAtMs: number;
  readonly tookMs: number;
}

/** One change of one step of one pod: the only thing that the runner emits. */
export interface Transition {
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly step: string;
  readonly direction: 'start' | 'stop';
  readonly state: StepState;
  /** Epoch. */
  readonly atMs: number;
  /** 0 when the state is `started`. */
  readonly tookMs: number;
  readonly calls: readonly RuntimeCall[];
}

export type TransitionListener = (transition: Transition) => void;
