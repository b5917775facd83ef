import { closeSync, statSync } from 'node:fs';
import type { BindOptions, HugePagesOptions, MounterPort, MountPoint, TmpfsOptions } from '#kubelet/ports/mounter.ts';
import { errnoOf, hostCall } from './errno.ts';
import { FLAG_OF_OPTION, type MountCalls, MS_BIND, MS_RDONLY, MS_REC, MS_REMOUNT } from './mount-calls.ts';
import { commandMountCalls } from './mount-calls-command.ts';
import { koffiMountCalls } from './mount-calls-koffi.ts';
import { isBelow, kernelPath, type MountInfo, readMountInfo } from './mountinfo.ts';
import { ensureMountPoint, openBelow } from './open-below.ts';

/** Mounts by system call; by mount(8) where koffi has no binary. */
export async function createLinuxMounter(): Promise<MounterPort> {
  let calls: MountCalls;
  try {
    calls = await koffiMountCalls();
  } catch {
    calls = commandMountCalls(); // slower, and all that is lost
  }
  return createMounter(calls);
}

export function createMounter(calls: MountCalls): MounterPort {
  const bind = (source: string, target: string, options: BindOptions) => bindOnce(calls, source, target, options);
  return {
    bind,
    tmpfs: (target, options) => tmpfsOnce(calls, target, options),
    hugePages: (target, options) => hugePagesOnce(calls, target, options),
    unmount: (target) => unmountAll(calls, target),
    async listBelow(root) {
      const path = kernelPath(root);
      const below = readMountInfo().filter(({ target }) => isBelow(target, path));
      return below.map(({ target, source, fsType }): MountPoint => ({ target, source, fsType })).sort((a, b) => depth(b.target) - depth(a.target));
    },
    async bindBelow(root, relative, target) {
      const opened = openBelow(root, relative);
      try {
        ensureMountPoint(target, opened.isDirectory);
        await bind(`/proc/self/fd/${opened.fd}`, target, { readOnly: false, recursive: false });
      } finally {
        closeSync(opened.fd);
      }
    },
  };
}

async function bindOnce(calls: MountCalls, source: string, target: string, options: BindOptions): Promise<void> {
  const present = topMountAt(target);
  if (present !== undefined && isSameFile(source, target)) {
    if (isReadOnly(present) !== options.readOnly) await remount(calls, target, present, options.readOnly);
    return;
  }
  if (present !== undefined) await unmountAll(calls, target);
  await calls.mount({ source, target, fsType: '', flags: MS_BIND | (options.recursive ? MS_REC : 0), data: '' });
  if (!options.readOnly) return;
  try {
    // A bind mount takes no other flag in the same call: read-only needs a second one.
    await remount(calls, target, topMountAt(target), true);
  } catch (error) {
    await calls.unmount(target); // never leave a writable mount where a read-only one was asked for
    throw error;
  }
}

async function remount(calls: MountCalls, target: string, present: MountInfo | undefined, readOnly: boolean): Promise<void> {
  const kept = (present?.options ?? []).reduce((flags, option) => flags | (FLAG_OF_OPTION[option] ?? 0), 0) & ~MS_RDONLY;
  const flags = MS_BIND | MS_REMOUNT | kept | (readOnly ? MS_RDONLY : 0);
  await calls.mount({ source: 'none', target, fsType: '', flags, data: '' });
}

async function tmpfsOnce(calls: MountCalls, target: string, { sizeBytes, mode }: TmpfsOptions): Promise<void> {
  const present = topMountAt(target);
  if (present?.fsType === 'tmpfs' && present.root === '/') return;
  if (present !== undefined) await unmountAll(calls, target);
  const data = [...(sizeBytes > 0 ? [`size=${sizeBytes}`] : []), `mode=${mode.toString(8).padStart(4, '0')}`].join(',');
  try {
    await calls.mount({ source: 'tmpfs', target, fsType: 'tmpfs', flags: 0, data: `${data},noswap` });
  } catch {
    await calls.mount({ source: 'tmpfs', target, fsType: 'tmpfs', flags: 0, data }); // kernels before 6.4 know no `noswap`
  }
}

async function hugePagesOnce(calls: MountCalls, target: string, { pageBytes }: HugePagesOptions): Promise<void> {
  const present = topMountAt(target);
  if (present?.fsType === 'hugetlbfs') return;
  if (present !== undefined) await unmountAll(calls, target);
  await calls.mount({ source: 'nodev', target, fsType: 'hugetlbfs', flags: 0, data: `pagesize=${pageBytes}` });
}

async function unmountAll(calls: MountCalls, target: string): Promise<void> {
  while (await calls.unmount(target));
}

function topMountAt(target: string): MountInfo | undefined {
  const path = kernelPath(target);
  return readMountInfo().findLast((mount) => mount.target === path);
}

function isReadOnly(mount: MountInfo): boolean {
  return mount.options.includes('ro');
}

/** A bind mount shows its source: the same inode on the same device. */
function isSameFile(source: string, target: string): boolean {
  try {
    const [a, b] = [statSync(source), statSync(target)];
    return a.dev === b.dev && a.ino === b.ino;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    return hostCall(`stat ${source}`, () => {
      throw error;
    });
  }
}

function depth(path: string): number {
  return path.split('/').length;
}
