import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { CgroupFacts, CgroupSettings, CgroupsPort } from '#kubelet/ports/cgroups.ts';
import type { CgroupMounts, Hierarchy } from './cgroup-mounts.ts';
import { checkedPath, childNames, makeCgroup, refuse, removeTrees, writeSettings } from './cgroup-tree.ts';
import { hostCall, unlessMissing } from './errno.ts';

/** A cgroup that lacks one of these (where mounted) does not count as there. Source: the kubelet's rule. */
const SEEN_BY_EXISTS = new Set(['cpu', 'cpuacct', 'cpuset', 'memory', 'systemd', 'pids', 'hugetlb']);

/** Every hierarchy of the host, also the v2 mount of a hybrid host: the runtime makes its parents in all of them, so all are removed. */
export function createCgroupsV1(mounts: CgroupMounts, facts: CgroupFacts, clock: Clock): CgroupsPort {
  const hierarchies = [...mounts.v1, ...(mounts.v2 === undefined ? [] : [mounts.v2])];
  const directories = (path: string) => hierarchies.map(({ root }) => root + checkedPath(path));
  const rootOf = (controller: string) => mounts.v1.find(({ controllers }) => controllers.includes(controller))?.root;
  const decisive = mounts.v1.filter(({ controllers }) => controllers.some((name) => SEEN_BY_EXISTS.has(name)));

  return {
    version: 'v1',
    ...facts,
    async ensure(path, settings) {
      checkedPath(path);
      for (const hierarchy of hierarchies) make(hierarchy, path);
      const refused = filesV1(settings).flatMap(([controller, file, value]) => {
        const root = rootOf(controller);
        return root === undefined ? [] : writeSettings(root + path, [[file, value]]);
      });
      refuse(path, refused);
    },
    exists: async (path) => decisive.every(({ root }) => isDirectory(root + checkedPath(path))),
    async lack(path) {
      const missing = decisive.map(({ root }) => root + checkedPath(path)).filter((directory) => !isDirectory(directory));
      return missing.length === 0 ? undefined : `cgroup ${JSON.stringify(path)} has some missing paths: ${missing.sort().join(', ')}`;
    },
    children: async (path) => [...new Set(directories(path).flatMap(childNames))],
    remove: (path, signal) => removeTrees(directories(path), clock, signal),
    async read(path) {
      const numberAt = (controller: string, file: string) => {
        const full = `${rootOf(controller)}${checkedPath(path)}/${file}`;
        const text = unlessMissing(`read ${full}`, () => readFileSync(full, 'utf8'));
        return text === undefined ? undefined : Number(text);
      };
      const [cpuShares, cpuQuotaUs, cpuPeriodUs] = ['shares', 'cfs_quota_us', 'cfs_period_us'].map((file) => numberAt('cpu', `cpu.${file}`));
      const memory = numberAt('memory', 'memory.limit_in_bytes');
      if (cpuShares === undefined || memory === undefined) return undefined;
      // Kernels without bandwidth control have no quota; "no limit" of memory is the largest number of whole pages.
      return {
        cpuShares,
        cpuQuotaUs: cpuQuotaUs ?? -1,
        cpuPeriodUs: cpuPeriodUs ?? 0,
        memoryLimitBytes: memory >= Number.MAX_SAFE_INTEGER ? -1 : memory,
      };
    },
    async memoryUsageBytes(path) {
      const file = `${rootOf('memory')}${checkedPath(path)}/memory.usage_in_bytes`;
      const text = unlessMissing(`read ${file}`, () => readFileSync(file, 'utf8'));
      return text === undefined ? undefined : Number(text);
    },
  };
}

/** Settings as files of v1. The period goes before the quota: the kernel checks one against the other. */
export function filesV1(settings: CgroupSettings): readonly (readonly [controller: string, file: string, value: string])[] {
  const { cpuShares, cpuPeriodUs, cpuQuotaUs, memoryLimitBytes, pidsLimit, hugepageLimits = {} } = settings;
  const wanted: readonly (readonly [string, string, string | undefined])[] = [
    ['cpu', 'cpu.shares', cpuShares?.toString()],
    ['cpu', 'cpu.cfs_period_us', cpuPeriodUs?.toString()],
    ['cpu', 'cpu.cfs_quota_us', cpuQuotaUs?.toString()],
    ['memory', 'memory.limit_in_bytes', memoryLimitBytes?.toString()],
    ['pids', 'pids.max', pidsLimit === undefined ? undefined : pidsMax(pidsLimit)],
    ...Object.entries(hugepageLimits).map(([size, bytes]) => ['hugetlb', `hugetlb.${size}.limit_in_bytes`, String(bytes)] as const),
  ];
  return wanted.flatMap(([controller, file, value]) => (value === undefined ? [] : [[controller, file, value] as const]));
}

/** 0 would forbid even the first process. */
export function pidsMax(limit: number): string {
  return limit < 0 ? 'max' : String(Math.max(1, limit));
}

function make({ root, controllers }: Hierarchy, path: string): void {
  makeCgroup(root, path, (made) => {
    if (controllers.includes('cpuset')) inheritCpuset(root + made);
  });
}

/** A new cpuset is empty and takes no process. With `clone_children` the kernel fills those below it by itself, the runtime's too. */
function inheritCpuset(directory: string): void {
  hostCall(`set up ${directory}`, () => {
    writeFileSync(`${directory}/cgroup.clone_children`, '1');
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (readFileSync(`${directory}/${file}`, 'utf8').trim() === '') {
        writeFileSync(`${directory}/${file}`, readFileSync(`${dirname(directory)}/${file}`, 'utf8'));
      }
    }
  });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
