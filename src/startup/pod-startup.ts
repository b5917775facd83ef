import type { KindRef } from '#api/kind.ts';
import type { NamespacedMeta } from '#api/types/meta-v1.ts';
import type { WakeKey } from './transition.ts';

/** One call to the runtime inside a step. */
export interface CallRecord {
  readonly name: string;
  /** Epoch, with fractions. */
  readonly startedAtMs: number;
  readonly tookMs: number;
}

/** How far a pull has come that the pod waits for. */
export interface PullProgress {
  readonly image: string;
  /** Of the layers that are seen so far: the runtime does not begin with all at once. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly layers: number;
  readonly layersDone: number;
  /** When bytes came last; epoch. */
  readonly changedAtMs: number;
  /** So many others run beside it, whose bytes are counted too: the runtime does not tell them apart. */
  readonly otherPulls: number;
}

export type StepPhase = 'running' | 'done' | 'waiting' | 'rejected' | 'failed';

/** What is known of one step of a pod's start: its first run, and how it stands now. */
export interface StepRecord {
  readonly name: string;
  readonly title: string;
  readonly phase: StepPhase;
  /** When the step ran for the first time. */
  readonly startedAtMs: number;
  /** When it was done for the first time; absent until then. */
  readonly doneAtMs?: number | undefined;
  /** Work alone, waits between tries not included, until it was done for the first time. */
  readonly tookMs: number;
  /** Runs until it was done for the first time, or until now. */
  readonly attempts: number;
  /** Since when the step waits, fails or is rejected for `reason`. */
  readonly sinceMs?: number | undefined;
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  /** What the reason means and what to try, from the step's definition. */
  readonly meaning?: string | undefined;
  readonly mend?: string | undefined;
  readonly wakeOn?: readonly WakeKey[] | undefined;
  /** The next try comes by then at the latest. */
  readonly nextTryAtMs?: number | undefined;
  readonly slowAfterMs: number;
  readonly calls: readonly CallRecord[];
}

/** Moments outside the node's steps; epoch, with fractions. Absent: not reached, or before this process watched. */
export interface Milestones {
  /** The API server had the object in its store. */
  readonly stored?: number | undefined;
  /** The binding was in the store. */
  readonly assigned?: number | undefined;
  readonly seenByKubelet?: number | undefined;
  /** A client could see the pod Running. */
  readonly running?: number | undefined;
  readonly firstReady?: number | undefined;
}

/** The start-up record of one pod. */
export interface PodStartup {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NamespacedMeta;
  readonly nodeName: string;
  readonly milestones: Milestones;
  /** In the order in which they ran first. */
  readonly steps: readonly StepRecord[];
  /** Those that run for longer than a moment. */
  readonly pulls?: readonly PullProgress[] | undefined;
}

/** What the kubelet sends in one request. */
export interface PodStartupBatch {
  readonly nodeName: string;
  readonly items: readonly NodePart[];
}

/** The part of a record that a node knows. */
export interface NodePart {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly seenByKubeletMs: number;
  readonly steps: readonly StepRecord[];
  readonly pulls?: readonly PullProgress[] | undefined;
}

/** The answer to a batch: how soon the next one is wanted. */
export interface BatchAnswer {
  readonly isWatched: boolean;
}

export const podStartups: KindRef<PodStartup> = {
  group: 'kubernode.dev',
  version: 'v1',
  kind: 'PodStartup',
  plural: 'podstartups',
  scope: 'Namespaced',
};
