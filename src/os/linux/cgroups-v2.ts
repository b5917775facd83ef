import { readFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { type CgroupFacts, type CgroupLimits, type CgroupSettings, type CgroupsPort, cpuWeight } from '#kubelet/ports/cgroups.ts';
import { checkedPath, childNames, makeCgroup, refuse, removeTrees, writeSettings } from './cgroup-tree.ts';
import { pidsMax } from './cgroups-v1.ts';
import { unlessMissing } from './errno.ts';

const SEEN_BY_EXISTS = new Set(['cpu', 'cpuset', 'memory', 'hugetlb', 'pids']);

/** @param root where the unified tree is mounted, or a cgroup that was delegated to us */
export function createCgroupsV2(root: string, facts: CgroupFacts, clock: Clock): CgroupsPort {
  const controllers = controllersOf(root);
  const decisive = controllers.filter((name) => SEEN_BY_EXISTS.has(name));

  return {
    version: 'v2',
    ...facts,
    async ensure(path, settings) {
      make(root, checkedPath(path), controllers);
      refuse(path, writeSettings(root + path, filesV2(settings)));
    },
    async exists(path) {
      const present = controllersOf(root + checkedPath(path));
      return decisive.every((name) => present.includes(name)) && (decisive.length > 0 || present.length > 0);
    },
    async lack(path) {
      const present = controllersOf(root + checkedPath(path));
      if (present.length === 0) return `could not read controllers for cgroup ${JSON.stringify(path)}: it is not there, or has none`;
      const missing = decisive.filter((name) => !present.includes(name));
      return missing.length === 0 ? undefined : `cgroup ${JSON.stringify(path)} has some missing controllers: ${missing.sort().join(', ')}`;
    },
    children: async (path) => childNames(root + checkedPath(path)),
    remove: (path, signal) => removeTrees([root + checkedPath(path)], clock, signal),
    async read(path) {
      const textAt = (file: string) => {
        const full = `${root}${checkedPath(path)}/${file}`;
        return unlessMissing(`read ${full}`, () => readFileSync(full, 'utf8'))?.trim();
      };
      const [weight, cpu, memory] = [textAt('cpu.weight'), textAt('cpu.max'), textAt('memory.max')];
      return weight === undefined || cpu === undefined || memory === undefined ? undefined : limitsV2(weight, cpu, memory);
    },
    async memoryUsageBytes(path) {
      const file = `${root}${checkedPath(path)}/memory.current`;
      const text = unlessMissing(`read ${file}`, () => readFileSync(file, 'utf8'));
      return text === undefined ? undefined : Number(text);
    },
  };
}

/** Settings as files of v2. */
export function filesV2(settings: CgroupSettings): readonly (readonly [file: string, value: string])[] {
  const { cpuShares, cpuPeriodUs, cpuQuotaUs, memoryLimitBytes, pidsLimit, hugepageLimits = {}, unified = {} } = settings;
  const wanted: readonly (readonly [string, string | undefined])[] = [
    ['cpu.weight', cpuShares === undefined ? undefined : String(cpuWeight(cpuShares))],
    ['cpu.max', cpuMax(cpuQuotaUs, cpuPeriodUs)],
    ['memory.max', memoryLimitBytes === undefined ? undefined : memoryLimitBytes < 0 ? 'max' : String(memoryLimitBytes)],
    ['pids.max', pidsLimit === undefined ? undefined : pidsMax(pidsLimit)],
    ...Object.entries(hugepageLimits).map(([size, bytes]) => [`hugetlb.${size}.max`, String(bytes)] as const),
    ...Object.entries(unified),
  ];
  return wanted.flatMap(([file, value]) => (value === undefined ? [] : [[file, value] as const]));
}

/** What the files of a cgroup say. The weight is turned back into shares, not always the very ones that it was made of. */
export function limitsV2(weight: string, cpuMax: string, memoryMax: string): CgroupLimits {
  const [quota = 'max', period = '100000'] = cpuMax.split(' ');
  const orNone = (text: string) => (text === 'max' ? -1 : Number(text));
  return {
    cpuShares: Math.floor(((Number(weight) - 1) * 262_142) / 9999) + 2,
    cpuQuotaUs: orNone(quota),
    cpuPeriodUs: Number(period),
    memoryLimitBytes: orNone(memoryMax),
  };
}

function cpuMax(quotaUs: number | undefined, periodUs: number | undefined): string | undefined {
  if (quotaUs === undefined && periodUs === undefined) return undefined;
  return `${quotaUs === undefined || quotaUs < 0 ? 'max' : quotaUs} ${periodUs ?? 100_000}`;
}

/** Every ancestor hands its controllers down; the new cgroup itself does not, or it could hold no process. */
function make(root: string, path: string, controllers: readonly string[]): void {
  makeCgroup(root, path, (made) => {
    if (controllersOf(root + made).length < controllers.length) handDown(root, made, controllers);
  });
}

/** From the root to the parent, each time all at once, and one by one where the kernel refuses one of them. */
function handDown(root: string, path: string, controllers: readonly string[]): void {
  const ancestors = path.split('/').slice(1, -1);
  for (let length = 0; length <= ancestors.length; length += 1) {
    const file = [root, ...ancestors.slice(0, length), 'cgroup.subtree_control'].join('/');
    const enable = (names: readonly string[]) => {
      try {
        writeFileSync(file, names.map((name) => `+${name}`).join(' '));
        return true;
      } catch {
        return false; // a controller that cannot be handed down shows when a setting needs it
      }
    };
    if (!enable(controllers)) for (const name of controllers) enable([name]);
  }
}

/** Names of the controllers that a cgroup has; none for one that is not there. */
export function controllersOf(directory: string): readonly string[] {
  const text = unlessMissing(`read ${directory}/cgroup.controllers`, () => readFileSync(`${directory}/cgroup.controllers`, 'utf8')) ?? '';
  return text
    .trim()
    .split(/\s+/)
    .filter((name) => name !== '');
}
