import { silentLogger } from '#base/log.ts';
import { parseKubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import { type CgroupDriver, cgroupNames } from '../cgroup-names.ts';
import { type NodeCgroupOptions, nodeCgroupOptions } from '../cgroup-options.ts';
import { nodeBudget } from '../node-budget.ts';
import type { PodCgroupsOptions } from '../pod-cgroups.ts';

export const aHost = { cpus: 4, memoryBytes: 8 * 2 ** 30, swapBytes: 0, maxProcesses: 32_768 };
const plainCgroups = { version: 'v1', hasSwapController: false, hugepageSizes: [] as readonly string[] } as const;

/** What a configuration means on a host of four CPUs and 8 GiB. */
export function someCgroupOptions(
  configuration: Readonly<Record<string, unknown>> = {},
  host: Partial<typeof aHost> = {},
  cgroups: Partial<{ version: 'v1' | 'v2'; hasSwapController: boolean; hugepageSizes: readonly string[] }> = {},
): NodeCgroupOptions {
  const parsed = parseKubeletConfiguration(configuration, 'test');
  const facts = { ...aHost, ...host };
  return nodeCgroupOptions(parsed, nodeBudget(parsed, facts.cpus), facts, { ...plainCgroups, ...cgroups });
}

/** The same for pods' cgroups below a root. @param told gets the events on the node */
export function somePodCgroupsOptions(
  root: string,
  {
    configuration = {},
    driver = 'cgroupfs',
    told = [],
  }: { configuration?: Readonly<Record<string, unknown>>; driver?: CgroupDriver; told?: string[] } = {},
): PodCgroupsOptions {
  return {
    ...someCgroupOptions(configuration),
    names: cgroupNames(root, driver),
    logger: silentLogger,
    tell: (type, reason, message) => told.push(`${type} ${reason} ${message}`),
  };
}
