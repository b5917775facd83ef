import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { CgroupCpu, CgroupMemory, DiskUsage, Pressure, Reading, Stall } from '#kubelet/ports/usage.ts';
import type { CgroupMounts } from './cgroup-mounts.ts';
import { unlessMissing } from './errno.ts';

/** Reads one file of the cgroup; undefined when the kernel has none of that name. */
type Read = (file: string) => string | undefined;

/** Where a controller's files are: in a tree of its own, or in the unified one. */
export interface ControllerTree {
  readonly version: 'v1' | 'v2';
  readonly root: string;
}

/** @returns undefined when no tree may have the controller */
export function treeOf(mounts: CgroupMounts, controller: string): ControllerTree | undefined {
  const own = mounts.v1.find(({ controllers }) => controllers.includes(controller));
  if (own !== undefined) return { version: 'v1', root: own.root };
  return mounts.v2 === undefined ? undefined : { version: 'v2', root: mounts.v2.root };
}

export function readIn(directory: string): Read {
  // A cgroup may go at any time; a file may refuse to be read while it does.
  return (file) => unlessMissing(`read ${directory}/${file}`, () => attempt(() => readFileSync(`${directory}/${file}`, 'utf8')));
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENODEV' || code === 'EOPNOTSUPP') return undefined;
    throw error;
  }
}

/** v1: time is counted by `cpuacct`, limits are in `cpu`. */
export function cpuV1(account: Read, limits: Read): CgroupCpu {
  const stat = table(limits('cpu.stat'));
  return {
    totalNanos: numberOf(account('cpuacct.usage')),
    userNanos: numberOf(account('cpuacct.usage_user')),
    systemNanos: numberOf(account('cpuacct.usage_sys')),
    periods: stat('nr_periods'),
    throttledPeriods: stat('nr_throttled'),
    throttledNanos: stat('throttled_time'),
    shares: numberOf(limits('cpu.shares')),
    quotaUs: positive(numberOf(limits('cpu.cfs_quota_us'))),
    periodUs: numberOf(limits('cpu.cfs_period_us')),
  };
}

export function cpuV2(read: Read): CgroupCpu {
  const stat = table(read('cpu.stat'));
  const [quota, period] = (read('cpu.max') ?? '').trim().split(' ');
  const weight = numberOf(read('cpu.weight'));
  return {
    totalNanos: times(stat('usage_usec'), 1000),
    userNanos: times(stat('user_usec'), 1000),
    systemNanos: times(stat('system_usec'), 1000),
    periods: stat('nr_periods'),
    throttledPeriods: stat('nr_throttled'),
    throttledNanos: times(stat('throttled_usec'), 1000),
    shares: weight === undefined ? undefined : 2 + Math.floor(((weight - 1) * 262_142) / 9999),
    quotaUs: numberOf(quota),
    periodUs: numberOf(period),
  };
}

export function memoryV1(read: Read): CgroupMemory {
  const stat = table(read('memory.stat'));
  const limitBytes = limited(numberOf(read('memory.limit_in_bytes')));
  const both = limited(numberOf(read('memory.memsw.limit_in_bytes')));
  return {
    usageBytes: numberOf(read('memory.usage_in_bytes')),
    maxUsageBytes: numberOf(read('memory.max_usage_in_bytes')),
    inactiveFileBytes: stat('total_inactive_file'),
    rssBytes: stat('total_rss'),
    cacheBytes: stat('total_cache'),
    mappedFileBytes: stat('total_mapped_file'),
    pageFaults: stat('total_pgfault'),
    majorPageFaults: stat('total_pgmajfault'),
    failures: numberOf(read('memory.failcnt')),
    swapBytes: stat('total_swap'),
    oomKills: table(read('memory.oom_control'))('oom_kill'),
    limitBytes,
    swapLimitBytes: both === undefined || limitBytes === undefined ? undefined : both - limitBytes,
  };
}

/** @param root what the host as a whole uses: the root of the unified tree does not say it */
export function memoryV2(read: Read, root: { readonly usageBytes: number; readonly swapBytes: number } | undefined): CgroupMemory {
  const stat = table(read('memory.stat'));
  const events = table(read('memory.events'));
  return {
    usageBytes: root?.usageBytes ?? numberOf(read('memory.current')),
    maxUsageBytes: numberOf(read('memory.peak')),
    inactiveFileBytes: stat('inactive_file'),
    rssBytes: stat('anon'),
    cacheBytes: stat('file'),
    mappedFileBytes: stat('file_mapped'),
    pageFaults: stat('pgfault'),
    majorPageFaults: stat('pgmajfault'),
    failures: events('max'),
    oomKills: events('oom_kill'),
    swapBytes: root?.swapBytes ?? numberOf(read('memory.swap.current')),
    limitBytes: numberOf(read('memory.max')),
    swapLimitBytes: numberOf(read('memory.swap.max')),
  };
}

/** Counts of a disk by its number, `8:0`. */
export type DiskCounts = Omit<DiskUsage, 'device'> & { readonly number: string };

/** Lines as `8:0 Read 4096`. Which of its files the kernel counts in depends on its version and on the disk's scheduler. */
export function disksV1(read: Read): readonly DiskCounts[] {
  const counted = (what: string) =>
    ['throttle', 'bfq']
      .map((by) => operations(read(`blkio.${by}.${what}_recursive`) ?? read(`blkio.${by}.${what}`)))
      .find((disks) => disks.size > 0) ?? new Map();
  const [bytes, times] = [counted('io_service_bytes'), counted('io_serviced')];
  return [...bytes].map(([number, of]) => ({
    number,
    readBytes: of.get('Read') ?? 0,
    writtenBytes: of.get('Write') ?? 0,
    reads: times.get(number)?.get('Read') ?? 0,
    writes: times.get(number)?.get('Write') ?? 0,
  }));
}

function operations(text: string | undefined): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const disks = new Map<string, Map<string, number>>();
  for (const [, number = '', operation = '', count] of (text ?? '').matchAll(/^(\d+:\d+) (\w+) (\d+)$/gm)) {
    const of = disks.get(number) ?? new Map<string, number>();
    disks.set(number, of.set(operation, Number(count)));
  }
  return disks;
}

/** Lines as `8:0 rbytes=4096 wbytes=0 rios=1 wios=0`. */
export function disksV2(read: Read): readonly DiskCounts[] {
  return [...(read('io.stat') ?? '').matchAll(/^(\d+:\d+) (.*)$/gm)].flatMap(([, number = '', rest = '']) => {
    const values = new Map(rest.split(' ').map((pair) => pair.split('=') as [string, string | undefined]));
    if (!values.has('rbytes')) return [];
    const of = (name: string): number => Number(values.get(name) ?? 0);
    return [{ number, readBytes: of('rbytes'), writtenBytes: of('wbytes'), reads: of('rios'), writes: of('wios') }];
  });
}

/** @param text as in `cpu.pressure` */
export function parsePressure(text: string | undefined): Pressure | undefined {
  if (text === undefined) return undefined;
  const stallOf = (kind: string): Stall | undefined => {
    const found = new RegExp(`^${kind} avg10=(\\S+) avg60=(\\S+) avg300=(\\S+) total=(\\d+)`, 'm').exec(text);
    if (found === null) return undefined;
    const [, avg10, avg60, avg300, total] = found.map(Number);
    return { totalUs: total ?? 0, avg10: avg10 ?? 0, avg60: avg60 ?? 0, avg300: avg300 ?? 0 };
  };
  return { some: stallOf('some'), full: stallOf('full') };
}

/** Processes at and below a cgroup. */
export function countProcesses(directory: string): number {
  const own = readIn(directory)('cgroup.procs') ?? '';
  let count = own === '' ? 0 : own.trimEnd().split('\n').length;
  for (const name of directoryNames(directory)) count += countProcesses(`${directory}/${name}`);
  return count;
}

/** Some process at or below a cgroup. */
export function firstProcess(directory: string): number | undefined {
  const own = Number.parseInt(readIn(directory)('cgroup.procs') ?? '', 10);
  if (own > 0) return own;
  for (const name of directoryNames(directory)) {
    const below = firstProcess(`${directory}/${name}`);
    if (below !== undefined) return below;
  }
  return undefined;
}

function directoryNames(directory: string): readonly string[] {
  // A cgroup without children has two links; the count spares the reading of its files' names.
  const links = statSync(directory, { throwIfNoEntry: false })?.nlink;
  if (links === undefined || links === 2) return [];
  const entries = unlessMissing(`readdir ${directory}`, () => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** @param text lines of a name and a number */
function table(text: string | undefined): (name: string) => Reading {
  const values = new Map((text ?? '').split('\n').map((line) => line.split(' ') as [string, string | undefined]));
  return (name) => numberOf(values.get(name));
}

/** `max` and what is not there are no number. */
function numberOf(text: string | undefined): Reading {
  const value = Number(text);
  return text === undefined || text.trim() === '' || !Number.isFinite(value) ? undefined : value;
}

function times(reading: Reading, factor: number): Reading {
  return reading === undefined ? undefined : reading * factor;
}

function positive(reading: Reading): Reading {
  return reading === undefined || reading < 0 ? undefined : reading;
}

/** v1 says "none" by a number near 2^63. */
function limited(reading: Reading): Reading {
  return reading === undefined || reading > 2 ** 62 ? undefined : reading;
}
