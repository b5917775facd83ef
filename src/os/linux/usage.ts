import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CgroupUsage, DiskUsage, FilesystemRoom, HostUsage, InterfaceUsage, UsagePort } from '#kubelet/ports/usage.ts';
import { type CgroupMounts, parseCgroupMounts } from './cgroup-mounts.ts';
import { directoryUsage } from './directory-usage.ts';
import { errnoOf, hostCall, hostError, unlessMissing } from './errno.ts';
import {
  type ControllerTree,
  countProcesses,
  cpuV1,
  cpuV2,
  disksV1,
  disksV2,
  firstProcess,
  memoryV1,
  memoryV2,
  parsePressure,
  readIn,
  treeOf,
} from './usage-cgroups.ts';

/** Files of cgroups are read at once (some 20 microseconds each); after so many cgroups others get their turn. */
const cgroupsATurn = 25;

export function createLinuxUsage(): UsagePort {
  const mounts = parseCgroupMounts(hostCall('read /proc/self/mounts', () => readFileSync('/proc/self/mounts', 'utf8')));
  const trees = treesOf(mounts);
  let read = 0;
  return {
    async cgroup(path) {
      read += 1;
      if (read % cgroupsATurn === 0) await nextTurn();
      return cgroupUsage(trees, path);
    },
    ownCgroup: async () => cgroupOfProcess(textOf('/proc/self/cgroup'), trees.memory?.version ?? 'v2'),
    disks: async (path) => disksOf(trees.blkio, path),
    cgroupChildren: async (path) => childrenOf(trees.memory, path),
    directory: directoryUsage,
    filesystem: filesystemRoom,
    host: async () => hostUsage(),
    async network(cgroup) {
      const pid = cgroup === undefined ? 'self' : trees.memory === undefined ? undefined : firstProcess(trees.memory.root + below(cgroup));
      const text = pid === undefined ? undefined : unlessMissing('read net/dev', () => readFileSync(`/proc/${pid}/net/dev`, 'utf8'));
      return parseNetDev(text ?? '');
    },
  };
}

interface Trees {
  readonly cpu: ControllerTree | undefined;
  readonly cpuacct: ControllerTree | undefined;
  readonly memory: ControllerTree | undefined;
  readonly pids: ControllerTree | undefined;
  readonly blkio: ControllerTree | undefined;
}

function treesOf(mounts: CgroupMounts): Trees {
  const of = (controller: string) => treeOf(mounts, controller);
  return { cpu: of('cpu'), cpuacct: of('cpuacct'), memory: of('memory'), pids: of('pids'), blkio: of('blkio') };
}

/** The files of the root are at the mount itself. */
function below(path: string): string {
  return path === '/' ? '' : path;
}

function cgroupUsage(trees: Trees, path: string): CgroupUsage | undefined {
  const isRoot = path === '/';
  const inTree = (tree: ControllerTree | undefined) => readIn(`${tree?.root}${below(path)}`);
  const decisive = trees.memory;
  const made = decisive === undefined ? undefined : statSync(decisive.root + below(path), { throwIfNoEntry: false });
  if (decisive === undefined || made === undefined) return undefined;
  const host = isRoot ? hostUsage() : undefined;
  const whole = host === undefined ? undefined : { usageBytes: memoryInUse(), swapBytes: host.swapBytes - host.swapFreeBytes };
  const unified = decisive.version === 'v2' ? inTree(decisive) : () => undefined;
  const pids = inTree(trees.pids);
  return {
    startedAtMs: host?.bootedAtMs ?? made.ctimeMs,
    cpu: trees.cpuacct?.version === 'v1' ? cpuV1(inTree(trees.cpuacct), inTree(trees.cpu)) : cpuV2(inTree(trees.cpuacct)),
    memory: withoutRootLimit(decisive.version === 'v1' ? memoryV1(inTree(decisive)) : memoryV2(inTree(decisive), whole), isRoot),
    processes: isRoot ? undefined : countProcesses(decisive.root + path),
    threads: isRoot ? host?.tasks : integer(pids('pids.current')),
    threadsLimit: isRoot ? host?.maxTasks : integer(pids('pids.max')),
    pressure: {
      cpu: parsePressure(unified('cpu.pressure')),
      memory: parsePressure(unified('memory.pressure')),
      io: parsePressure(unified('io.pressure')),
    },
  };
}

function withoutRootLimit(memory: CgroupUsage['memory'], isRoot: boolean): CgroupUsage['memory'] {
  return isRoot ? { ...memory, limitBytes: undefined, swapLimitBytes: undefined } : memory;
}

/** @param text as in `/proc/self/cgroup` @returns undefined for the root */
export function cgroupOfProcess(text: string, version: ControllerTree['version']): string | undefined {
  const pattern = version === 'v2' ? /^0::(.*)$/m : /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m;
  const path = pattern.exec(text)?.[1];
  return path === '/' ? undefined : path;
}

function disksOf(tree: ControllerTree | undefined, path: string): readonly DiskUsage[] {
  const read = readIn(`${tree?.root}${below(path)}`);
  const counts = tree?.version === 'v1' ? disksV1(read) : disksV2(read);
  return counts.map(({ number, ...rest }) => ({ ...rest, device: deviceName(number) }));
}

/** @param number `8:0` */
function deviceName(number: string): string {
  const link = unlessMissing(`readlink /sys/dev/block/${number}`, () => readlinkSync(`/sys/dev/block/${number}`));
  return link === undefined ? number : `/dev/${basename(link)}`;
}

function childrenOf(tree: ControllerTree | undefined, path: string): readonly string[] {
  const directory = `${tree?.root}${below(path)}`;
  const entries = unlessMissing(`readdir ${directory}`, () => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function filesystemRoom(path: string): Promise<FilesystemRoom | undefined> {
  try {
    const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path);
    const device = String(statSync(path).dev);
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, freeBytes: bfree * bsize, inodes: files, inodesFree: ffree, device };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw hostError(errno ?? 'EIO', `statfs ${path}`, error);
  }
}

function hostUsage(): HostUsage {
  const memory = meminfo();
  const tasks = /\d+\/(\d+)/.exec(textOf('/proc/loadavg'))?.[1];
  const booted = /^btime (\d+)$/m.exec(textOf('/proc/stat'))?.[1];
  return {
    bootedAtMs: Number(booted ?? 0) * 1000,
    memoryBytes: memory('MemTotal'),
    swapBytes: memory('SwapTotal'),
    swapFreeBytes: memory('SwapFree'),
    tasks: Number(tasks ?? 0),
    maxTasks: Math.min(Number(textOf('/proc/sys/kernel/pid_max')), Number(textOf('/proc/sys/kernel/threads-max'))),
  };
}

function memoryInUse(): number {
  const memory = meminfo();
  return memory('MemTotal') - memory('MemFree');
}

function meminfo(): (name: string) => number {
  const text = textOf('/proc/meminfo');
  return (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

function textOf(path: string): string {
  return hostCall(`read ${path}`, () => readFileSync(path, 'utf8'));
}

function integer(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? undefined : value;
}

/** @param text as in `/proc/net/dev` */
export function parseNetDev(text: string): readonly InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, rest] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined || name === 'lo') return [];
    const counts = rest.trim().split(/\s+/).map(Number);
    const at = (index: number): number => counts[index] ?? 0;
    const received = { rxBytes: at(0), rxPackets: at(1), rxErrors: at(2), rxDropped: at(3) };
    return [{ name, ...received, txBytes: at(8), txPackets: at(9), txErrors: at(10), txDropped: at(11) }];
  });
}
