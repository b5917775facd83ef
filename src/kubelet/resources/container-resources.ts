import { isPodLevelResource, type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { LinuxContainerResources } from '#wire/generated/cri.ts';
import type { PodCgroupOptions } from './cgroup-settings.ts';
import { cpuQuotaUs, cpuShares } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';
import { oomScoreAdj } from './oom-score.ts';

export interface ContainerResourceFacts extends Omit<PodCgroupOptions, 'podPidsLimit'> {
  readonly cgroupVersion: 'v1' | 'v2';
  readonly memoryCapacityBytes: number;
  /** Whether the kernel can limit swap; without that nothing is said about it. */
  readonly hasSwapController: boolean;
  /** true: only the process that ran out of memory is killed, not its container. Default: false on v2. */
  readonly singleProcessOomKill: boolean;
}

/** What the runtime is told about a container's resources. Pods do not swap (`NoSwap`). */
export function containerResources(pod: Pod, container: Container, facts: ContainerResourceFacts): LinuxContainerResources {
  const requests = resourcesOf(container.resources?.requests);
  const limits = withPodLimits(resourcesOf(container.resources?.limits), pod);
  const [cpuLimit, memoryLimitInBytes] = [limits.get('cpu') ?? 0, limits.get('memory') ?? 0];
  const hugepages = Object.entries(hugepageLimits(limits, facts.hugepageSizes));
  const isV2 = facts.cgroupVersion === 'v2';
  return {
    cpuShares: cpuShares(requests.get('cpu') ?? cpuLimit),
    cpuQuota: facts.enforceCpuLimits ? cpuQuotaUs(cpuLimit, facts.cpuPeriodUs) : 0,
    cpuPeriod: facts.enforceCpuLimits ? facts.cpuPeriodUs : 0,
    memoryLimitInBytes,
    memorySwapLimitInBytes: !isV2 && facts.hasSwapController ? memoryLimitInBytes : 0,
    oomScoreAdj: oomScoreAdj(pod, container, facts.memoryCapacityBytes),
    cpusetCpus: '',
    cpusetMems: '',
    hugepageLimits: hugepages.map(([pageSize, limit]) => ({ pageSize, limit })),
    unified: {
      ...(isV2 && !facts.singleProcessOomKill ? { 'memory.oom.group': '1' } : {}),
      ...(isV2 && facts.hasSwapController ? { 'memory.swap.max': '0' } : {}),
    },
  };
}

/** A container without a limit of its own may use what the pod may use. */
function withPodLimits(own: Resources, { spec }: Pod): Resources {
  const ofPod = [...resourcesOf(spec?.resources?.limits)].filter(([name]) => isPodLevelResource(name));
  return new Map([...ofPod, ...own]);
}
