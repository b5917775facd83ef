import { readFileSync } from 'node:fs';
import { systemClock } from '#base/clock.ts';
import { CgroupsMissing, type CgroupsPort } from '#kubelet/ports/cgroups.ts';
import { createCgroupsV1 } from './cgroups-v1.ts';
import { createCgroupsV2 } from './cgroups-v2.ts';
import { hostCall } from './errno.ts';

/** One mounted cgroup tree. */
export interface Hierarchy {
  readonly root: string;
  /** v1: `cpu`, `memory`..., `name=systemd` as `systemd`; empty for v2. */
  readonly controllers: readonly string[];
}

export interface CgroupMounts {
  readonly v1: readonly Hierarchy[];
  readonly v2: Hierarchy | undefined;
}

/** Without these no pod can be held in its limits. Source: the kubelet's own start-up check. */
const NEEDED_V1 = ['cpu', 'cpuacct', 'cpuset', 'memory'];

const V1_CONTROLLERS = new Set([
  'blkio',
  'cpu',
  'cpuacct',
  'cpuset',
  'devices',
  'freezer',
  'hugetlb',
  'memory',
  'misc',
  'net_cls',
  'net_prio',
  'perf_event',
  'pids',
  'rdma',
]);

/**
 * The cgroup tree of this host.
 *
 * @throws {CgroupsMissing} when controllers that pods need are not mounted
 */
export function createLinuxCgroups(): CgroupsPort {
  const mounts = parseCgroupMounts(hostCall('read /proc/self/mounts', () => readFileSync('/proc/self/mounts', 'utf8')));
  if (mounts.v1.some(({ controllers }) => controllers.includes('memory'))) {
    const missing = NEEDED_V1.filter((name) => !mounts.v1.some(({ controllers }) => controllers.includes(name)));
    if (missing.length === 0) return createCgroupsV1(mounts, systemClock);
    throw lacking(missing);
  }
  if (mounts.v2 === undefined) throw lacking(NEEDED_V1);
  return createCgroupsV2(mounts.v2.root, systemClock);
}

/** @param text as in `/proc/mounts`; where a tree is mounted more than once the shortest path counts */
export function parseCgroupMounts(text: string): CgroupMounts {
  const v1 = new Map<string, Hierarchy>();
  let v2: Hierarchy | undefined;
  for (const line of text.split('\n')) {
    const [, root = '', fsType, options = ''] = line.split(' ');
    if (fsType === 'cgroup2' && (v2 === undefined || root.length < v2.root.length)) v2 = { root, controllers: [] };
    if (fsType !== 'cgroup') continue;
    const controllers = options.split(',').flatMap(controllerOf).sort();
    const known = v1.get(controllers.join(','));
    if (controllers.length > 0 && (known === undefined || root.length < known.root.length)) v1.set(controllers.join(','), { root, controllers });
  }
  return { v1: [...v1.values()], v2 };
}

function controllerOf(option: string): readonly string[] {
  if (option.startsWith('name=')) return [option.slice('name='.length)];
  return V1_CONTROLLERS.has(option) ? [option] : [];
}

function lacking(controllers: readonly string[]): CgroupsMissing {
  return new CgroupsMissing({
    message: `cgroup controllers are not mounted: ${controllers.join(', ')}`,
    hint: 'mount them below /sys/fs/cgroup (v1), or boot with the unified hierarchy (v2)',
  });
}
