import type { Pod } from '#api/types/core-v1.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { PodCgroupTree } from './pod-cgroup-index.ts';
import { createStatsProvider, type StatsProvider } from './stats-provider.ts';

export interface StatsParts {
  readonly cache: RuntimeCache;
  readonly podCgroups: PodCgroupTree;
  readonly podOf: (uid: string) => Pod | undefined;
}

/** The figures of this node. Closed by its maker. */
export function createStats(config: KubeletConfig, host: KubeletHost, parts: StatsParts): StatsProvider {
  const { usage, runtime, clock, logger } = host;
  const roots = { ...config.roots, memory: config.memoryVolumes };
  return createStatsProvider({ ...parts, usage, runtime, clock, logger, roots, volumePeriodMs: config.configuration.volumeStatsAggPeriod });
}
