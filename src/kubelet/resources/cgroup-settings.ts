import { qosClass } from '#api/pod/qos.ts';
import { podLimits, podRequests } from '#api/pod/requests.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { CgroupSettings } from '../ports/cgroups.ts';
import { cpuQuotaUs, cpuShares, MIN_CPU_SHARES } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';
import { isLimited } from './is-limited.ts';

export interface PodCgroupOptions {
  readonly cpuPeriodUs: number;
  /** false: CPU limits are not enforced (`cpuCFSQuota`). */
  readonly enforceCpuLimits: boolean;
  /** -1: no limit. */
  readonly podPidsLimit: number;
  /** As the kernel names them: `2MB`, `1GB`; empty when the host has no hugetlb controller. */
  readonly hugepageSizes: readonly string[];
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
  const others: CgroupSettings = {
    ...(options.podPidsLimit > 0 ? { pidsLimit: options.podPidsLimit } : {}),
    hugepageLimits: hugepageLimits(podRequests(pod), options.hugepageSizes),
  };
  if (spec === undefined || qosClass(pod) === 'BestEffort') return { cpuShares: MIN_CPU_SHARES, ...others };
  const limits = podLimits(pod);
  const memoryLimitBytes = limits.get('memory') ?? 0;
  return {
    cpuShares: cpuShares(podRequests(pod).get('cpu') ?? 0),
    ...(isLimited(spec, 'cpu') ? cpuLimit(limits.get('cpu') ?? 0, options) : {}),
    ...(isLimited(spec, 'memory') && memoryLimitBytes > 0 ? { memoryLimitBytes } : {}),
    ...others,
  };
}

/** @param pods those that are not finished */
export function qosTreeSettings(pods: readonly Pod[], limits: NodeCgroupLimits): QosTreeSettings {
  const burstable = pods.filter((pod) => qosClass(pod) === 'Burstable');
  const cpuMilli = burstable.reduce((sum, pod) => sum + (podRequests(pod).get('cpu') ?? 0), 0);
  const unbounded = Object.fromEntries(limits.hugepageSizes.map((size) => [size, UNBOUNDED_HUGEPAGES]));
  return {
    root: { cpuShares: cpuShares(limits.cpuMilli), memoryLimitBytes: limits.memoryBytes, pidsLimit: limits.pids, hugepageLimits: unbounded },
    burstable: { cpuShares: cpuShares(cpuMilli), hugepageLimits: unbounded },
    bestEffort: { cpuShares: MIN_CPU_SHARES, hugepageLimits: unbounded },
  };
}

function cpuLimit(cpuMilli: number, { enforceCpuLimits, cpuPeriodUs }: PodCgroupOptions): CgroupSettings {
  if (!enforceCpuLimits) return { cpuQuotaUs: -1 };
  const quotaUs = cpuQuotaUs(cpuMilli, cpuPeriodUs);
  return quotaUs === 0 ? {} : { cpuQuotaUs: quotaUs, cpuPeriodUs };
}
