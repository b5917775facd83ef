import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { Client } from '#client/client.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { Index } from '#client/indexer.ts';
import type { Informer } from '#client/informer-port.ts';
import type { SharedInformers } from '#client/shared-informers.ts';

/** What every controller works with. */
export interface ControllerContext {
  readonly client: Client;
  readonly informers: SharedInformers;
  /** Pods by the name of their node; '' for those without one. */
  readonly podsByNode: Index<Pod>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings: ControllerTimings;
}

/** Upstream's values are the defaults. */
export interface ControllerTimings {
  /** From a namespace's deletion until its content is deleted: what was being created then must be seen first. */
  readonly namespaceDelayMs: number;
  /** A node that gave no sign of life for this long is unreachable. */
  readonly nodeGraceMs: number;
  /** The same for a node that is new. */
  readonly nodeStartupGraceMs: number;
  /** Between two nodes of a zone that get a `NoExecute` taint. */
  readonly nodeEvictionIntervalMs: number;
  readonly podGcIntervalMs: number;
  /** From a node's disappearance until its pods are deleted. */
  readonly orphanQuarantineMs: number;
  /** From the start until the garbage collector lists every kind: what a cluster needs to be ready comes first. */
  readonly garbageCollectorDelayMs: number;
  /** From the deletion of a range of services until it goes: every API server sees first that its addresses may not be given out any more. */
  readonly serviceCidrGraceMs: number;
  /** How soon kinds are collected that a client has defined. */
  readonly discoveryIntervalMs: number;
}

export const defaultControllerTimings: ControllerTimings = {
  namespaceDelayMs: 5000,
  nodeGraceMs: 40_000,
  nodeStartupGraceMs: 60_000,
  nodeEvictionIntervalMs: 10_000,
  podGcIntervalMs: 20_000,
  orphanQuarantineMs: 40_000,
  garbageCollectorDelayMs: 1500,
  serviceCidrGraceMs: 10_000,
  discoveryIntervalMs: 30_000,
};

/** The kind's informer, with its first list in. */
export async function syncedInformer<T extends KubeObject>(context: ControllerContext, kind: KindRef<T>, signal: AbortSignal): Promise<Informer<T>> {
  const informer = context.informers.of(kind);
  await informer.synced(signal);
  return informer;
}
