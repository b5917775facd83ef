import type { Pod, PodSpec } from '#api/types/core-v1.ts';
import type { CgroupSettings } from '../ports/cgroups.ts';
import { cpuQuotaUs, cpuShares, MIN_CPU_SHARES } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';
import { isLimited, podLimits, podRequests } from './pod-resources.ts';
import { qosClassOf } from './qos.ts';

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
    hugepageLimits: hugepageLimits(spec === undefined ? {} : podRequests(spec), options.hugepageSizes),
  };
  if (spec === undefined || qosClassOf(pod) === 'BestEffort') return { cpuShares: MIN_CPU_SHARES, ...others };
  const limits = podLimits(spec);
  return {
    cpuShares: cpuShares(podRequests(spec)['cpu'] ?? 0),
    ...(isLimited(spec, 'cpu') ? cpuLimit(limits['cpu'] ?? 0, options) : {}),
    ...(isLimited(spec, 'memory') && (limits['memory'] ?? 0) > 0 ? { memoryLimitBytes: limits['memory'] } : {}),
    ...others,
  };
}

/** @param pods those that are not finished */
export function qosTreeSettings(pods: readonly Pod[], limits: NodeCgroupLimits): QosTreeSettings {
  const burstable = pods.filter((pod) => qosClassOf(pod) === 'Burstable').flatMap(({ spec }) => (spec === undefined ? [] : [spec]));
  const cpuMilli = burstable.reduce((sum, spec: PodSpec) => sum + (podRequests(spec)['cpu'] ?? 0), 0);
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
