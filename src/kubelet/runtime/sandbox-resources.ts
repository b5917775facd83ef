import { podLimits, podRequests, type Resources, resourcesOf } from '#api/pod/requests.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { LinuxContainerResources } from '#wire/generated/cri.ts';
import { ownsCpus } from '../resources/cgroup-settings.ts';
import type { ContainerResourceFacts } from '../resources/container-resources.ts';
import { cpuQuotaUs, cpuShares } from '../resources/cpu.ts';

export interface SandboxResources {
  /** Of all containers together, for runtimes that size a sandbox by them. */
  readonly resources: LinuxContainerResources;
  /** Of the sandbox itself, as the pod's RuntimeClass says. */
  readonly overhead: LinuxContainerResources;
}

type Facts = Pick<ContainerResourceFacts, 'enforceCpuLimits' | 'cpuPeriodUs' | 'cgroupVersion' | 'singleProcessOomKill' | 'hasStaticCpus'>;

export function sandboxResources(pod: Pod, facts: Facts): SandboxResources {
  const { spec } = pod;
  if (spec === undefined) return { resources: LinuxContainerResources.create({}), overhead: LinuxContainerResources.create({}) };
  const containers = { spec: { ...spec, overhead: undefined } };
  const killsGroup = facts.cgroupVersion === 'v2' && !facts.singleProcessOomKill;
  const together = limited(podRequests(containers), podLimits(containers), facts);
  const overhead = resourcesOf(spec.overhead);
  return {
    resources: LinuxContainerResources.create({
      ...together,
      ...(ownsCpus(pod, facts) ? { cpuQuota: -1 } : {}),
      unified: killsGroup ? { 'memory.oom.group': '1' } : {},
    }),
    overhead: LinuxContainerResources.create(overhead.size === 0 ? {} : limited(overhead, overhead, facts)),
  };
}

function limited(requests: Resources, limits: Resources, { enforceCpuLimits, cpuPeriodUs }: Facts) {
  const cpuLimit = limits.get('cpu') ?? 0;
  return {
    cpuShares: cpuShares(requests.get('cpu') ?? cpuLimit),
    cpuQuota: enforceCpuLimits ? cpuQuotaUs(cpuLimit, cpuPeriodUs) : 0,
    cpuPeriod: enforceCpuLimits ? cpuPeriodUs : 0,
    memoryLimitInBytes: limits.get('memory') ?? 0,
  };
}
