import type { Pod } from '#api/types/core-v1.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import { histogram } from '../metrics/families.ts';
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
  const walks =
    host.registry === undefined
      ? undefined
      : histogram(host.registry, 'kubelet_volume_metric_collection_duration_seconds', 'Duration of finding out what volumes use', ['metric_source']);
  const walked = (tookMs: number) => walks?.observe({ metric_source: 'du' }, tookMs / 1000);
  const roots = { ...config.roots, memory: config.memoryVolumes };
  return createStatsProvider({ ...parts, usage, runtime, clock, logger, roots, walked, volumePeriodMs: config.configuration.volumeStatsAggPeriod });
}
