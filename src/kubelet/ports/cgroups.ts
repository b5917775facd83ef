import { AppError } from '#base/errors.ts';

/** What a cgroup may use; an absent value is left as it is. The adapter translates to v1 or v2. */
export interface CgroupSettings {
  /** v1 `cpu.shares` scale, 2..262144; v2: converted to `cpu.weight`. */
  readonly cpuShares?: number | undefined;
  /** Microseconds of CPU a period, -1: no limit. */
  readonly cpuQuotaUs?: number | undefined;
  readonly cpuPeriodUs?: number | undefined;
  /** -1: no limit. */
  readonly memoryLimitBytes?: number | undefined;
  /** -1: no limit. */
  readonly pidsLimit?: number | undefined;
  readonly hugepageLimits?: Readonly<Record<string, number>> | undefined;
  /** v2 files as they are, such as `memory.min`; ignored on v1. */
  readonly unified?: Readonly<Record<string, string>> | undefined;
}

/** What a cgroup has; -1: no limit. Shares and periods are always there. */
export interface CgroupLimits {
  readonly cpuShares: number;
  readonly cpuQuotaUs: number;
  readonly cpuPeriodUs: number;
  readonly memoryLimitBytes: number;
}

/** What the kernel can limit beyond CPU and memory. */
export interface CgroupFacts {
  /** Whether swap can be limited. */
  readonly hasSwapController: boolean;
  /** Sizes of huge pages that can be limited, as the kernel names them: `2MB`, `1GB`. */
  readonly hugepageSizes: readonly string[];
}

/** The cgroup tree of the node; paths are below its root, as in `/kubernode/default/burstable/pod<uid>`. */
export interface CgroupsPort extends CgroupFacts {
  /** 'v1' includes hybrid hosts, whose controllers are all in v1. */
  readonly version: 'v1' | 'v2';
  /**
   * Makes the cgroup in every hierarchy and writes the settings.
   *
   * @throws {CgroupSettingsRefused} when the kernel refused some of them: the cgroup is there, the others are written
   */
  ensure(path: string, settings: CgroupSettings, signal: AbortSignal): Promise<void>;
  exists(path: string, signal: AbortSignal): Promise<boolean>;
  /** Why a cgroup does not count as there, in upstream's words; `undefined`: it does. */
  lack(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Names of the children in any hierarchy, the v2 mount of a hybrid host included. */
  children(path: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Kills what still runs at or below it, then removes it from every hierarchy; not there is no error. */
  remove(path: string, signal: AbortSignal): Promise<void>;
  /** What was written, as the kernel has it; `undefined` for a cgroup that is not there. */
  read(path: string, signal: AbortSignal): Promise<CgroupLimits | undefined>;
  memoryUsageBytes(path: string, signal: AbortSignal): Promise<number | undefined>;
}

/**
 * `cpu.shares` as `cpu.weight`, 1..10000.
 *
 * Source: the linear conversion that kubelets use for pods and tiers; runtimes newer than runc 1.3.1 have another one for containers.
 */
export function cpuWeight(cpuShares: number): number {
  return cpuShares >= 262_144 ? 10_000 : 1 + Math.floor(((Math.max(2, cpuShares) - 2) * 9999) / 262_142);
}

/** The kernel took some settings of a cgroup and not others. */
export class CgroupSettingsRefused extends AppError {
  readonly code = 'CGROUP_SETTINGS_REFUSED';
  readonly retry = 'backoff';
}

/** The host lacks a cgroup controller that pods need. */
export class CgroupsMissing extends AppError {
  readonly code = 'CGROUPS_MISSING';
  readonly retry = 'never';
}
