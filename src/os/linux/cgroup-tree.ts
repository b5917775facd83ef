import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { InvalidInput, messageOf } from '#base/errors.ts';
import { CgroupSettingsRefused } from '#kubelet/ports/cgroups.ts';
import { errnoOf, hostCall, hostError, unlessMissing } from './errno.ts';

// cgroupfs calls are made at once: each is 15 to 50 microseconds of kernel time (a new memory cgroup 260), under one lock of the kernel's.

/** 1 ms, doubled: about 2 s in all. A dying process leaves its cgroup a little after it was killed. */
const RMDIR_TRIES = 11;

/** @throws {InvalidInput} unless the path is absolute, not the root itself, and free of `..` */
export function checkedPath(path: string): string {
  if (/^(\/(?!\.\.?(\/|$))[^/]+)+$/.test(path)) return path;
  throw new InvalidInput({ message: `${JSON.stringify(path)} is not a path of a cgroup below the root` });
}

/** Makes a cgroup and those missing above it. @param prepare gets the path of each new one, parents first */
export function makeCgroup(root: string, path: string, prepare: (path: string) => void): void {
  const directory = root + path;
  try {
    mkdirSync(directory);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return;
    if (errno !== 'ENOENT' || dirname(path) === '/') throw hostError(errno ?? 'EIO', `mkdir ${directory}`, error);
    makeCgroup(root, dirname(path), prepare);
    hostCall(`mkdir ${directory}`, () => mkdirSync(directory));
  }
  prepare(path);
}

/** Names of the child cgroups, empty when the cgroup is not there. */
export function childNames(directory: string): readonly string[] {
  const entries = unlessMissing(`readdir ${directory}`, () => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** Writes what the kernel takes and says what it refused. Huge-page files that it lacks (a page size, no such controller) are left out. */
export function writeSettings(directory: string, settings: readonly (readonly [file: string, value: string])[]): readonly string[] {
  return settings.flatMap(([file, value]) => {
    try {
      writeFileSync(`${directory}/${file}`, value, { flag: 'r+' });
      return [];
    } catch (error) {
      return errnoOf(error) === 'ENOENT' && file.startsWith('hugetlb.') ? [] : [`${file}=${value}: ${messageOf(error)}`];
    }
  });
}

export function refuse(path: string, refused: readonly string[]): void {
  if (refused.length === 0) return;
  throw new CgroupSettingsRefused({ message: `cgroup ${path}: ${refused.join('; ')}`, hint: 'the kernel log may say why' });
}

/** Kills every process in the trees, then removes them, children first. A tree that is not there is no error. */
export async function removeTrees(directories: readonly string[], clock: Clock, signal: AbortSignal): Promise<void> {
  killAll(directories);
  for (const directory of directories) await removeTree(directory, clock, signal);
}

function killAll(directories: readonly string[]): void {
  for (const pid of new Set(directories.flatMap(processesBelow))) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw hostError(errnoOf(error) ?? 'EIO', `kill ${pid}`, error);
  }
}

/** 0 is a process of a namespace that we do not see, and to `kill` it would mean ourselves. */
function processesBelow(directory: string): readonly number[] {
  const text = unlessMissing(`read ${directory}/cgroup.procs`, () => readFileSync(`${directory}/cgroup.procs`, 'utf8')) ?? '';
  const own = text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
  return [...own, ...childNames(directory).flatMap((name) => processesBelow(`${directory}/${name}`))];
}

async function removeTree(directory: string, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let attempt = 1, waitMs = 1; ; attempt += 1, waitMs *= 2) {
    const errno = removeOnce(directory);
    if (errno === undefined) return;
    if (errno !== 'EBUSY' || attempt === RMDIR_TRIES) throw hostError(errno, `rmdir ${directory}`);
    await clock.sleep(waitMs, signal);
    killAll([directory]); // a process may have been forked while we killed
  }
}

/** @returns the errno that stands in the way */
function removeOnce(directory: string): string | undefined {
  const direct = rmdir(directory);
  if (direct === undefined) return undefined;
  for (const name of childNames(directory)) {
    const below = removeOnce(`${directory}/${name}`);
    if (below !== undefined) return below;
  }
  return rmdir(directory);
}

function rmdir(directory: string): string | undefined {
  try {
    rmdirSync(directory);
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return undefined;
    if (errno === undefined)
      return hostCall('rmdir', () => {
        throw error;
      });
    return errno === 'ENOTEMPTY' ? 'EBUSY' : errno;
  }
}
