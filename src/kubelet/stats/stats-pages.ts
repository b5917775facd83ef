import { messageOf } from '#base/errors.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { HostFacts } from '../ports/host.ts';
import { cadvisorMetrics } from './cadvisor-metrics.ts';
import { namedCgroups } from './named-cgroups.ts';
import type { PodCgroupTree } from './pod-cgroup-index.ts';
import { resourceMetrics } from './resource-metrics.ts';
import type { StatsProvider } from './stats-provider.ts';
import { computeSummary, summary } from './summary.ts';

export interface StatsPages {
  summary(onlyCompute: boolean, signal: AbortSignal): Promise<unknown>;
  /** Prometheus text by path. */
  readonly metrics: ReadonlyMap<string, (signal: AbortSignal) => Promise<string>>;
}

export interface StatsPagesParts {
  readonly stats: StatsProvider;
  readonly podCgroups: PodCgroupTree;
  readonly hostFacts: HostFacts;
}

/** The figures as the kubelet's server shows them. */
export function statsPages({ nodeName, roots }: KubeletConfig, host: KubeletHost, { stats, podCgroups, hostFacts }: StatsPagesParts): StatsPages {
  const { usage, clock, logger } = host;
  const machine = { boot_id: hostFacts.bootId, machine_id: hostFacts.machineId, system_uuid: hostFacts.systemUuid };
  /** A scrape that fails says so in a series of its own. */
  const orNothing = async <T>(what: string, read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      logger.warn('figures could not be read', { what, error: messageOf(error) });
      return undefined;
    }
  };
  const compute = async (signal: AbortSignal) => {
    const [node, pods] = await Promise.all([stats.nodeCompute(signal), stats.podsCompute(signal)]);
    return { node, pods };
  };
  return {
    async summary(onlyCompute, signal) {
      if (onlyCompute) {
        const { node, pods } = await compute(signal);
        return computeSummary(nodeName, node, pods);
      }
      const [node, pods] = await Promise.all([stats.node(signal), stats.pods(signal)]);
      return summary(nodeName, node, pods);
    },
    metrics: new Map([
      ['/metrics/resource', async (signal) => resourceMetrics(await orNothing('resource metrics', compute(signal)))],
      [
        '/metrics/cadvisor',
        async (signal) => {
          const deps = {
            usage,
            podCgroups,
            clock,
            root: roots.root,
            find: (inner: AbortSignal) => stats.find(inner),
            layers: async (inner: AbortSignal) => (await orNothing('writable layers', stats.layers(inner))) ?? new Map(),
          };
          const [cgroups, hostUsage] = await Promise.all([orNothing('cgroups', namedCgroups(deps, signal)), usage.host(signal)]);
          return cadvisorMetrics({ cpus: hostFacts.cpus, host: hostUsage, labels: machine }, cgroups);
        },
      ],
    ]),
  };
}
