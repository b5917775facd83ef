import type { Registry } from 'prom-client';
import type { Pod } from '#api/types/core-v1.ts';
import type { ContainerKind } from '../ports/pod-runtime.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { counter } from './families.ts';
import { containerType } from './pod-metrics.ts';

export interface Deaths {
  readonly hasSynced: boolean;
  get(podUid: string): PodRuntimeState | undefined;
  subscribe(listener: (podUid: string) => void): () => void;
}

/** Counts containers that end from now on, each once. What had ended before the first look at the runtime is history. */
export function countTerminations(registry: Registry, cache: Deaths, podOf: (uid: string) => Pod | undefined): void {
  const names = ['container_type', 'exit_code', 'reason'] as const;
  const total = counter(registry, 'kubelet_terminated_containers_total', 'Containers that ended', names);
  /** Ids of ended containers by pod. */
  const known = new Map<string, ReadonlySet<string>>();
  cache.subscribe((podUid) => {
    const ended = cache.get(podUid)?.containers.filter(({ phase }) => phase === 'exited') ?? [];
    const before = known.get(podUid);
    if (ended.length === 0) known.delete(podUid);
    else known.set(podUid, new Set(ended.map(({ id }) => id)));
    if (!cache.hasSynced) return;
    for (const { id, name, exitCode, reason } of ended) {
      if (before?.has(id) === true) continue;
      total.inc({ container_type: containerType[kindOf(podOf(podUid), name)], exit_code: String(exitCode), reason });
    }
  });
}

function kindOf(pod: Pod | undefined, name: string): ContainerKind {
  const { initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  if (initContainers.some((one) => one.name === name)) return 'init';
  return ephemeralContainers.some((one) => one.name === name) ? 'ephemeral' : 'container';
}
