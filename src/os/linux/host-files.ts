import { randomBytes } from 'node:crypto';
import { watch } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import type { HostFiles } from '#cluster/ports/files.ts';
import { HostBusy } from '#kubelet/ports/host-errors.ts';
import { errnoOf, hostCallAsync } from './errno.ts';
import { isBelow, kernelPath, readMountInfo } from './mountinfo.ts';

/** The host's files, for its side of a cluster. @param mounts all mounts of the host, by their real paths */
export function createHostFiles(mounts: () => readonly { readonly target: string }[] = readMountInfo): HostFiles {
  return {
    readText: async (path) => await ifThere(`read ${path}`, () => readFile(path, 'utf8')),
    readBytes: async (path) => await ifThere(`read ${path}`, () => readFile(path)),
    write: async (path, content, mode) => await hostCallAsync(`write ${path}`, () => replaceFile(path, content, mode)),
    async ensureDirectory(path, mode) {
      await hostCallAsync(`mkdir ${path}`, async () => {
        await mkdir(path, { recursive: true, mode });
        await chmod(path, mode);
      });
    },
    async list(path) {
      const entries = (await ifThere(`readdir ${path}`, () => readdir(path, { withFileTypes: true }))) ?? [];
      return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
    },
    exists: async (path) => (await ifThere(`stat ${path}`, () => lstat(path))) !== undefined,
    facts: async (path) => {
      const found = await ifThere(`stat ${path}`, () => lstat(path));
      if (found === undefined) return undefined;
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : found.isSymbolicLink() ? 'symlink' : 'other';
      return { kind, mode: found.mode & 0o7777 };
    },
    readLink: async (path) => await ifThere(`readlink ${path}`, () => readlink(path)),
    link: async (target, path) => await hostCallAsync(`link ${path}`, () => replaceLink(target, path)),
    remove: async (path) => await hostCallAsync(`remove ${path}`, () => rm(path, { force: true })),
    removeTree: (path) => removeTree(path, mounts()),
    rotate: async (path, maxBytes) => await hostCallAsync(`rotate ${path}`, () => rotate(path, maxBytes)),
    waitForText,
  };
}

async function ifThere<T>(doing: string, call: () => Promise<T>): Promise<T | undefined> {
  return await hostCallAsync<T | undefined>(doing, async () => {
    try {
      return await call();
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
      throw error;
    }
  });
}

async function replaceFile(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(fresh, content, { mode, flush: true });
  await rename(fresh, path);
}

async function replaceLink(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${randomBytes(4).toString('hex')}`;
  await symlink(target, fresh);
  await rename(fresh, path);
}

async function removeTree(path: string, mounts: readonly { readonly target: string }[]): Promise<void> {
  const real = kernelPath(path);
  const mounted = mounts.find((mount) => isBelow(mount.target, real));
  if (mounted !== undefined)
    throw new HostBusy({ message: `remove ${path}: ${mounted.target} is mounted`, errno: 'EBUSY', hint: `umount ${mounted.target}` });
  await hostCallAsync(`remove ${path}`, () => rm(path, { recursive: true, force: true }));
}

async function rotate(path: string, maxBytes: number): Promise<void> {
  const facts = await ifThere(`stat ${path}`, () => stat(path));
  if (facts === undefined || facts.size <= maxBytes) return;
  await copyFile(path, `${path}.1`); // a rename would take the file away from those who write it
  await truncate(path, 0);
}

async function waitForText(path: string, accept: (text: string) => boolean, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve, reject) => {
    const done = (finish: () => void) => {
      watcher.close();
      forget();
      finish();
    };
    const look = () => {
      readFile(path, 'utf8').then(
        (text) => {
          if (accept(text)) done(resolve);
        },
        () => undefined, // not there yet
      );
    };
    // The folder is watched: the file may not be there yet, and may be replaced.
    const watcher = watch(dirname(path), look);
    watcher.on('error', (error) => done(() => reject(error)));
    const forget = onAbort(signal, () => done(() => reject(reasonOf(signal))));
    look();
  });
}
