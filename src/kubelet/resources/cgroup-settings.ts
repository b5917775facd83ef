import { qosClass } from '#api/pod/qos.ts';
import { podLimits, podRequests } from '#api/pod/requests.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { exclusiveCpus } from '../allocations/cpus/static-cpus.ts';
import type { CgroupSettings } from '../ports/cgroups.ts';
import { cpuQuotaUs, cpuShares, MIN_CPU_SHARES } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';
import { isLimited } from './is-limited.ts';
import type { ReservedResources } from './node-budget.ts';

export interface PodCgroupOptions {
  readonly cpuPeriodUs: number;
  /** false: CPU limits are not enforced (`cpuCFSQuota`). */
  readonly enforceCpuLimits: boolean;
  /** Below 1: no limit. */
  readonly podPidsLimit: number;
  /** As the kernel names them: `2MB`, `1GB`; empty when the host has no hugetlb controller. */
  readonly hugepageSizes: readonly string[];
  /** What pods asked for is kept from being reclaimed (`memoryReservationPolicy: TieredReservation`; v2 only). */
  readonly protectMemory: boolean;
  /** Containers may have CPUs for themselves alone (`cpuManagerPolicy: static`): a quota would only make them pause on what is theirs. */
  readonly hasStaticCpus?: boolean | undefined;
}

/** What all pods together may use. */
export interface NodeCgroupLimits {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /** -1: no limit. */
  readonly pids: number;
  readonly hugepageSizes: readonly string[];
}

export interface QosTreeSettings {
  readonly root: CgroupSettings;
  readonly burstable: CgroupSettings;
  readonly bestEffort: CgroupSettings;
}

/** Above any real amount, as the kubelet writes it. */
const UNBOUNDED_HUGEPAGES = 2 ** 62;

/** Limits of a pod as a whole. A Burstable pod is held to the sum of its containers' limits only if each of them has one. */
export function podCgroupSettings(pod: Pod, options: PodCgroupOptions): CgroupSettings {
  const { spec } = pod;
  const qos = qosClass(pod);
  const requests = podRequests(pod);
  const others: CgroupSettings = {
    ...(options.podPidsLimit > 0 ? { pidsLimit: options.podPidsLimit } : {}),
    hugepageLimits: hugepageLimits(requests, options.hugepageSizes),
  };
  if (spec === undefined || qos === 'BestEffort') return { cpuShares: MIN_CPU_SHARES, ...others };
  const limits = podLimits(pod);
  const memoryLimitBytes = limits.get('memory') ?? 0;
  return {
    cpuShares: cpuShares(requests.get('cpu') ?? 0),
    ...(isLimited(spec, 'cpu') ? cpuLimit(limits.get('cpu') ?? 0, options, ownsCpus(pod, options)) : {}),
    ...(isLimited(spec, 'memory') && memoryLimitBytes > 0 ? { memoryLimitBytes } : {}),
    ...others,
    ...(options.protectMemory ? { unified: { [qos === 'Guaranteed' ? 'memory.min' : 'memory.low']: String(requests.get('memory') ?? 0) } } : {}),
  };
}

/** Whether the pod has a container with CPUs for itself alone. */
export function ownsCpus(pod: Pod, { hasStaticCpus = false }: Pick<PodCgroupOptions, 'hasStaticCpus'>): boolean {
  if (!hasStaticCpus) return false;
  return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].some((container) => exclusiveCpus(pod, container) > 0);
}

/** @param pods those that are not finished */
export function qosTreeSettings(pods: readonly Pod[], limits: NodeCgroupLimits, protectMemory = false): QosTreeSettings {
  const burstable = pods.filter((pod) => qosClass(pod) === 'Burstable');
  const guaranteed = pods.filter((pod) => qosClass(pod) === 'Guaranteed');
  const unbounded = Object.fromEntries(limits.hugepageSizes.map((size) => [size, UNBOUNDED_HUGEPAGES]));
  const protect = (file: string, of: readonly Pod[]) => (protectMemory ? { unified: { [file]: String(sumOf(of, 'memory')) } } : {});
  return {
    root: {
      cpuShares: cpuShares(limits.cpuMilli),
      memoryLimitBytes: limits.memoryBytes,
      pidsLimit: limits.pids,
      hugepageLimits: unbounded,
      ...protect('memory.min', [...guaranteed, ...burstable]),
    },
    burstable: { cpuShares: cpuShares(sumOf(burstable, 'cpu')), hugepageLimits: unbounded, ...protect('memory.low', burstable) },
    bestEffort: { cpuShares: MIN_CPU_SHARES, hugepageLimits: unbounded },
  };
}

/** What holds the node's own daemons to what is reserved for them. */
export function reservedCgroupSettings(reserved: ReservedResources, isCompressibleOnly: boolean, hugepageSizes: readonly string[]): CgroupSettings {
  const shares = reserved.cpuMilli > 0 ? { cpuShares: cpuShares(reserved.cpuMilli) } : {};
  if (isCompressibleOnly) return shares;
  return {
    ...shares,
    ...(reserved.memoryBytes > 0 ? { memoryLimitBytes: reserved.memoryBytes } : {}),
    ...(reserved.pids > 0 ? { pidsLimit: reserved.pids } : {}),
    hugepageLimits: Object.fromEntries(hugepageSizes.map((size) => [size, 0])), // none can be reserved
  };
}

function sumOf(pods: readonly Pod[], resource: string): number {
  return pods.reduce((sum, pod) => sum + (podRequests(pod).get(resource) ?? 0), 0);
}

function cpuLimit(cpuMilli: number, { enforceCpuLimits, cpuPeriodUs }: PodCgroupOptions, isOwner: boolean): CgroupSettings {
  if (!enforceCpuLimits || isOwner) return { cpuQuotaUs: -1 };
  const quotaUs = cpuQuotaUs(cpuMilli, cpuPeriodUs);
  return quotaUs === 0 ? {} : { cpuQuotaUs: quotaUs, cpuPeriodUs };
}
