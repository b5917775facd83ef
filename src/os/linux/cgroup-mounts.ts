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
