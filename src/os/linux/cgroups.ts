import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { CgroupsMissing, type CgroupsPort } from '#kubelet/ports/cgroups.ts';
import { type CgroupMounts, parseCgroupMounts } from './cgroup-mounts.ts';
import { createCgroupsV1 } from './cgroups-v1.ts';
import { controllersOf, createCgroupsV2 } from './cgroups-v2.ts';
import { hostCall, unlessMissing } from './errno.ts';

/** Without these no pod can be held in its limits. Source: the kubelet's own start-up check. */
const NEEDED_V1 = ['cpu', 'cpuacct', 'cpuset', 'memory'];

/**
 * The cgroup tree of this host.
 *
 * @throws {CgroupsMissing} when controllers that pods need are not mounted
 */
export function createLinuxCgroups(): CgroupsPort {
  const mounts = parseCgroupMounts(hostCall('read /proc/self/mounts', () => readFileSync('/proc/self/mounts', 'utf8')));
  if (offersV1(mounts, 'memory')) {
    const missing = NEEDED_V1.filter((name) => !offersV1(mounts, name));
    if (missing.length === 0)
      return createCgroupsV1(mounts, { hasSwapController: hasSwapV1(mounts), hugepageSizes: sizesIf(offersV1(mounts, 'hugetlb')) }, systemClock);
    throw lacking(missing);
  }
  if (mounts.v2 === undefined) throw lacking(NEEDED_V1);
  const { root } = mounts.v2;
  const facts = { hasSwapController: hasSwapV2(root), hugepageSizes: sizesIf(controllersOf(root).includes('hugetlb')) };
  return createCgroupsV2(root, facts, systemClock);
}

function offersV1(mounts: CgroupMounts, controller: string): boolean {
  return mounts.v1.some(({ controllers }) => controllers.includes(controller));
}

function hasSwapV1(mounts: CgroupMounts): boolean {
  return mounts.v1.some(({ root, controllers }) => controllers.includes('memory') && existsSync(`${root}/memory.memsw.limit_in_bytes`));
}

/** The root has no limits: our own cgroup shows what the others have. */
function hasSwapV2(root: string): boolean {
  const own = /^0::(.*)$/m.exec(hostCall('read /proc/self/cgroup', () => readFileSync('/proc/self/cgroup', 'utf8')))?.[1] ?? '';
  return existsSync(`${root}${own}/memory.swap.max`);
}

/** `hugepages-2048kB` is `2MB` in the names of the controller's files. */
function sizesIf(offered: boolean): readonly string[] {
  const directory = '/sys/kernel/mm/hugepages';
  const names = offered ? (unlessMissing(`readdir ${directory}`, () => readdirSync(directory)) ?? []) : [];
  return names.map((name) => {
    const kilobytes = Number.parseInt(name.slice('hugepages-'.length), 10);
    if (kilobytes % 1_048_576 === 0) return `${kilobytes / 1_048_576}GB`;
    return kilobytes % 1024 === 0 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`;
  });
}

function lacking(controllers: readonly string[]): CgroupsMissing {
  return new CgroupsMissing({
    message: `system validation failed - Following Cgroup subsystem not mounted: [${controllers.join(' ')}]`,
    hint: 'mount them below /sys/fs/cgroup (v1), or boot with the unified hierarchy (v2)',
  });
}
