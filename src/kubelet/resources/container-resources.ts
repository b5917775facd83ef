import { qosClass } from '#api/pod/qos.ts';
import { isPodLevelResource, type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { LinuxContainerResources } from '#wire/generated/cri.ts';
import { exclusiveCpus } from '../allocations/cpus/static-cpus.ts';
import type { PodCgroupOptions } from './cgroup-settings.ts';
import { cpuQuotaUs, cpuShares } from './cpu.ts';
import { isCritical } from './critical.ts';
import { hugepageLimits } from './hugepages.ts';
import { oomScoreAdj } from './oom-score.ts';

export interface ContainerResourceFacts extends Omit<PodCgroupOptions, 'podPidsLimit'> {
  readonly cgroupVersion: 'v1' | 'v2';
  readonly memoryCapacityBytes: number;
  /** What a container without a limit is throttled below. */
  readonly memoryAllocatableBytes: number;
  readonly swapCapacityBytes: number;
  /** Whether the kernel can limit swap; without that nothing is said about it. */
  readonly hasSwapController: boolean;
  /** Burstable pods may swap in the proportion of their requests (`LimitedSwap`; v2 only). */
  readonly limitedSwap: boolean;
  /** true: only the process that ran out of memory is killed, not its container. Default: false on v2. */
  readonly singleProcessOomKill: boolean;
  /** A container is slowed down before it meets its limit (gate `MemoryQoS`, and with `TieredReservation`; v2 only). */
  readonly throttlesMemory: boolean;
  /** Where between request and limit a container begins to be slowed down (`memoryThrottlingFactor`). */
  readonly throttlingFactor: number;
}

/** What the runtime is told about a container's resources. */
export function containerResources(pod: Pod, container: Container, facts: ContainerResourceFacts): LinuxContainerResources {
  const requests = resourcesOf(container.resources?.requests);
  const limits = withPodLimits(resourcesOf(container.resources?.limits), pod);
  const [cpuLimit, memoryLimitInBytes] = [limits.get('cpu') ?? 0, limits.get('memory') ?? 0];
  const hugepages = Object.entries(hugepageLimits(limits, facts.hugepageSizes));
  const isV2 = facts.cgroupVersion === 'v2';
  const memoryRequest = requests.get('memory') ?? 0;
  return {
    cpuShares: cpuShares(requests.get('cpu') ?? cpuLimit),
    cpuQuota: facts.enforceCpuLimits ? containerQuota(pod, container, cpuLimit, facts) : 0,
    cpuPeriod: facts.enforceCpuLimits ? facts.cpuPeriodUs : 0,
    memoryLimitInBytes,
    memorySwapLimitInBytes: !isV2 && facts.hasSwapController ? memoryLimitInBytes : 0,
    oomScoreAdj: oomScoreAdj(pod, container, facts.memoryCapacityBytes),
    cpusetCpus: '',
    cpusetMems: '',
    hugepageLimits: hugepages.map(([pageSize, limit]) => ({ pageSize, limit })),
    unified: {
      ...(isV2 && !facts.singleProcessOomKill ? { 'memory.oom.group': '1' } : {}),
      ...(isV2 && facts.hasSwapController ? { 'memory.swap.max': String(swapLimit(pod, memoryRequest, memoryLimitInBytes, facts)) } : {}),
      ...(isV2 && facts.protectMemory ? protection(pod, memoryRequest) : {}),
      ...(isV2 && facts.throttlesMemory ? throttling(memoryRequest, memoryLimitInBytes, facts) : {}),
    },
  };
}

/** Own CPUs need no quota. */
function containerQuota(pod: Pod, container: Container, limitMilli: number, { hasStaticCpus = false, cpuPeriodUs }: ContainerResourceFacts): number {
  return hasStaticCpus && exclusiveCpus(pod, container) > 0 ? -1 : cpuQuotaUs(limitMilli, cpuPeriodUs);
}

/** Bytes of swap that a container may use; those of Burstable pods only, and not of critical ones. */
function swapLimit(pod: Pod, requestBytes: number, limitBytes: number, facts: ContainerResourceFacts): number {
  const isSwapping = facts.limitedSwap && qosClass(pod) === 'Burstable' && !isCritical(pod) && requestBytes !== limitBytes;
  return isSwapping ? Math.floor((requestBytes / facts.memoryCapacityBytes) * facts.swapCapacityBytes) : 0;
}

const pageBytes = 4096;

/** What the container asked for stays with it. */
function protection(pod: Pod, requestBytes: number): Readonly<Record<string, string>> {
  return requestBytes > 0 ? { [qosClass(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low']: String(requestBytes) } : {};
}

/** It is slowed down before it meets its limit, or the node's. */
function throttling(requestBytes: number, limitBytes: number, facts: ContainerResourceFacts): Readonly<Record<string, string>> {
  const upTo = limitBytes > 0 ? limitBytes : facts.memoryAllocatableBytes;
  const high = Math.floor((requestBytes + facts.throttlingFactor * (upTo - requestBytes)) / pageBytes) * pageBytes;
  return requestBytes !== limitBytes && high > requestBytes ? { 'memory.high': String(high) } : {};
}

/** A container without a limit of its own may use what the pod may use. */
function withPodLimits(own: Resources, { spec }: Pod): Resources {
  const ofPod = [...resourcesOf(spec?.resources?.limits)].filter(([name]) => isPodLevelResource(name));
  return new Map([...ofPod, ...own]);
}
