import { InvalidInput } from '#base/errors.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { CgroupsPort } from '../ports/cgroups.ts';
import type { HostFacts } from '../ports/host.ts';
import type { NodeCgroupLimits, PodCgroupOptions } from './cgroup-settings.ts';
import type { ContainerResourceFacts } from './container-resources.ts';
import type { NodeBudget, ReservedResources } from './node-budget.ts';
import { thresholdBytes } from './node-budget.ts';

/** A cgroup of the node's own daemons that is held to its reservation. */
export interface ReservedCgroup {
  readonly title: 'System' | 'Kube';
  readonly path: string;
  readonly reserved: ReservedResources;
  readonly isCompressibleOnly: boolean;
}

/** What the configuration says of cgroups, on this host. */
export interface NodeCgroupOptions {
  /** false: the runtime puts containers where it likes. */
  readonly isPerQos: boolean;
  readonly pod: PodCgroupOptions;
  readonly limits: NodeCgroupLimits;
  readonly container: ContainerResourceFacts;
  readonly reservedCgroups: readonly ReservedCgroup[];
}

type HostCgroups = Pick<CgroupsPort, 'version' | 'hasSwapController' | 'hugepageSizes'>;

/** @throws {InvalidInput} in upstream's words when the configuration does not fit itself or the host */
export function nodeCgroupOptions(
  configuration: KubeletConfiguration,
  budget: NodeBudget,
  host: Pick<HostFacts, 'cpus' | 'memoryBytes' | 'swapBytes' | 'maxProcesses'>,
  cgroups: HostCgroups,
): NodeCgroupOptions {
  check(configuration, host, cgroups);
  const { version, hasSwapController, hugepageSizes } = cgroups;
  const { enforceNodeAllocatable: enforced } = configuration;
  const kept = enforced.includes('pods') ? budget.reserved : undefined;
  const memoryBytes = Math.max(0, host.memoryBytes - (kept?.memoryBytes ?? 0));
  const pod: PodCgroupOptions = {
    cpuPeriodUs: Math.round(configuration.cpuCFSQuotaPeriod * 1000),
    enforceCpuLimits: configuration.cpuCFSQuota,
    podPidsLimit: configuration.podPidsLimit,
    hugepageSizes,
    hasStaticCpus: configuration.cpuManagerPolicy === 'static',
    protectMemory: version === 'v2' && configuration.memoryReservationPolicy === 'TieredReservation',
  };
  return {
    isPerQos: configuration.cgroupsPerQOS,
    pod,
    limits: {
      cpuMilli: Math.max(0, host.cpus * 1000 - (kept?.cpuMilli ?? 0)),
      memoryBytes,
      pids: Math.max(1, host.maxProcesses - (kept?.pids ?? 0)),
      hugepageSizes,
    },
    container: {
      ...pod,
      cgroupVersion: version,
      memoryCapacityBytes: host.memoryBytes,
      memoryAllocatableBytes: Math.max(
        0,
        host.memoryBytes - budget.reserved.memoryBytes - thresholdBytes(budget.thresholds.memory, host.memoryBytes),
      ),
      swapCapacityBytes: host.swapBytes,
      hasSwapController,
      limitedSwap: configuration.memorySwap.swapBehavior === 'LimitedSwap',
      singleProcessOomKill: configuration.singleProcessOOMKill ?? version === 'v1',
      throttlesMemory: version === 'v2' && (pod.protectMemory || configuration.featureGates['MemoryQoS'] === true),
      throttlingFactor: configuration.memoryThrottlingFactor,
    },
    reservedCgroups: reservedCgroups(configuration, budget),
  };
}

function check(configuration: KubeletConfiguration, host: Pick<HostFacts, 'swapBytes'>, { version, hasSwapController }: HostCgroups): void {
  const enforced = configuration.enforceNodeAllocatable.filter((key) => key !== 'none');
  const { cpuCFSQuotaPeriod: periodMs } = configuration;
  const refuse = (message: string, hint?: string) => {
    throw new InvalidInput({ message, hint });
  };
  if (!configuration.cgroupsPerQOS && enforced.length > 0) {
    refuse(
      'invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) is not supported unless cgroupsPerQOS (--cgroups-per-qos) is set to true',
      'set enforceNodeAllocatable to ["none"]',
    );
  }
  if (enforced.length < configuration.enforceNodeAllocatable.length && configuration.enforceNodeAllocatable.length > 1) {
    refuse(
      'invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
    );
  }
  if (periodMs < 1 || periodMs > 1000) refuse(`invalid configuration: cpuCFSQuotaPeriod ${periodMs}ms must be between 1ms and 1sec, inclusive`);
  if (configuration.failCgroupV1 && version === 'v1') {
    refuse(
      'kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release',
      'set failCgroupV1 to false, or boot the host with cgroup v2',
    );
  }
  if (configuration.failSwapOn && host.swapBytes > 0) {
    refuse('running with swap on is not supported, please disable swap or set --fail-swap-on flag to false');
  }
  if (configuration.memorySwap.swapBehavior === 'LimitedSwap' && (version === 'v1' || !hasSwapController)) {
    if (version === 'v1') refuse('swap feature is enabled and LimitedSwap but it is only supported with cgroupv2');
  }
  if (version === 'v1' && configuration.singleProcessOOMKill === false) {
    refuse('invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1');
  }
}

const components = [
  { key: 'system-reserved', title: 'System', setting: 'systemReservedCgroup (--system-reserved-cgroup)' },
  { key: 'kube-reserved', title: 'Kube', setting: 'kubeReservedCgroup (--kube-reserved-cgroup)' },
] as const;
const known: ReadonlySet<string> = new Set(['pods', 'none', ...components.flatMap(({ key }) => [key, `${key}-compressible`])]);

function reservedCgroups(configuration: KubeletConfiguration, budget: NodeBudget): readonly ReservedCgroup[] {
  const { enforceNodeAllocatable: enforced } = configuration;
  const stranger = enforced.find((key) => !known.has(key));
  if (stranger !== undefined) {
    throw new InvalidInput({
      message: `invalid configuration: option "${stranger}" specified for enforceNodeAllocatable (--enforce-node-allocatable)`,
    });
  }
  return components.flatMap(({ key, title, setting }) => {
    const [isWhole, isCompressibleOnly] = [enforced.includes(key), enforced.includes(`${key}-compressible`)];
    if (!isWhole && !isCompressibleOnly) return [];
    if (isWhole && isCompressibleOnly) {
      throw new InvalidInput({ message: `invalid configuration: both "${key}" and "${key}-compressible" cannot be specified together` });
    }
    const path = title === 'System' ? configuration.systemReservedCgroup : configuration.kubeReservedCgroup;
    if (path === '') {
      const name = isWhole ? key : `${key}-compressible`;
      throw new InvalidInput({
        message: `invalid configuration: ${setting} must be specified when "${name}" is contained in enforceNodeAllocatable (--enforce-node-allocatable)`,
      });
    }
    return [
      { title, path: `/${path.replace(/^\/+/, '')}`, reserved: title === 'System' ? budget.system : budget.kube, isCompressibleOnly: !isWhole },
    ];
  });
}
