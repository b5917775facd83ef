import type { CgroupUsage, DirectoryUsage, DiskUsage, FilesystemRoom, HostUsage, InterfaceUsage, UsagePort } from '#kubelet/ports/usage.ts';

const gibibyte = 2 ** 30;

/** What a pretended node uses: what a test has put there. */
export class MemoryUsage implements UsagePort {
  readonly cgroups = new Map<string, CgroupUsage>();
  own: string | undefined;
  readonly disksOf = new Map<string, readonly DiskUsage[]>();
  readonly directories = new Map<string, DirectoryUsage>();
  readonly interfaces = new Map<string, readonly InterfaceUsage[]>();
  /** Of every path that has none of its own. */
  room: FilesystemRoom = {
    capacityBytes: 100 * gibibyte,
    availableBytes: 80 * gibibyte,
    freeBytes: 90 * gibibyte,
    inodes: 1000,
    inodesFree: 900,
    device: 'disk',
  };
  readonly rooms = new Map<string, FilesystemRoom>();
  hostUsage: HostUsage = { bootedAtMs: 0, memoryBytes: 8 * gibibyte, swapBytes: 0, swapFreeBytes: 0, tasks: 100, maxTasks: 32_768 };
  /** Paths of the walks, in order. */
  readonly walked: string[] = [];
  /** What a walk is told first; tests hold walks up with it. */
  beforeWalk: (path: string) => Promise<void> | void = () => undefined;

  async cgroup(path: string): Promise<CgroupUsage | undefined> {
    return this.cgroups.get(path);
  }

  async ownCgroup(): Promise<string | undefined> {
    return this.own;
  }

  async disks(path: string): Promise<readonly DiskUsage[]> {
    return this.disksOf.get(path) ?? [];
  }

  async cgroupChildren(path: string): Promise<readonly string[]> {
    const prefix = path === '/' ? path : `${path}/`;
    const below = [...this.cgroups.keys()].filter((other) => other.startsWith(prefix) && other !== '/').map((other) => other.slice(prefix.length));
    return [...new Set(below.map((rest) => rest.split('/')[0] ?? ''))];
  }

  async directory(path: string): Promise<DirectoryUsage | undefined> {
    this.walked.push(path);
    await this.beforeWalk(path);
    return this.directories.get(path);
  }

  async filesystem(path: string): Promise<FilesystemRoom | undefined> {
    return this.rooms.get(path) ?? this.room;
  }

  async host(): Promise<HostUsage> {
    return this.hostUsage;
  }

  async network(cgroup: string | undefined): Promise<readonly InterfaceUsage[]> {
    return this.interfaces.get(cgroup ?? '') ?? [];
  }
}
