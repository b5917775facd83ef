import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { lstat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onAbort, reasonOf } from '#base/abort.ts';
import type { FileFacts, FilesPort } from '#kubelet/ports/files.ts';
import { HostCallFailed, MountBelow } from '#kubelet/ports/host-errors.ts';
import { compressFile } from './compress-file.ts';
import { errnoOf, hostCall, unlessMissing } from './errno.ts';
import { isBelow, kernelPath, readMountInfo } from './mountinfo.ts';
import { readBelow } from './open-below.ts';

/**
 * The node's own files. Small calls are made at once: each takes 5 to 30 microseconds, a turn through the thread pool takes 60 and more.
 * `stat` and `removeTree` are not: the first is asked about paths of users, which may hang on a dead server; the second may be long.
 */
export function createLinuxFiles(): FilesPort {
  return {
    async ensureDirectory(path, mode) {
      hostCall(`mkdir ${path}`, () => mkdirSync(path, { recursive: true, mode }));
      hostCall(`chmod ${path}`, () => chmodSync(path, mode)); // mkdir's mode went through the umask
    },
    read: async (path) => unlessMissing(`read ${path}`, () => readFileSync(path)),
    readEnd: async (path, maxBytes) => unlessMissing(`read ${path}`, () => readEnd(path, maxBytes)),
    readBelow: async (root, relative) => readBelow(root, relative),
    write: async (path, content, mode) => replaceFile(path, content, mode),
    compress: compressFile,
    list: async (path) => (unlessMissing(`readdir ${path}`, () => readdirSync(path, { withFileTypes: true })) ?? []).map(toEntry),
    stat,
    readLink: async (path) => readLink(path),
    link: async (target, path) => replaceLink(target, path),
    rename: async (from, to) => hostCall(`rename ${from} to ${to}`, () => renameSync(from, to)),
    changeOwner: async (path, uid, gid) => hostCall(`chown ${path}`, () => lchownSync(path, uid, gid)),
    changeMode: async (path, mode) => hostCall(`chmod ${path}`, () => chmodSync(path, mode)),
    removeTree,
  };
}

/** Not synced to the disk: what the kubelet keeps here survives its own crash, and after a crash of the node no pod runs. */
function replaceFile(path: string, content: Uint8Array | string, mode: number): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    hostCall(`write ${path}`, () => {
      writeFileSync(draft, content, { mode, flag: 'wx' });
      chmodSync(draft, mode);
      renameSync(draft, path);
    });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function replaceLink(target: string, path: string): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  hostCall(`symlink ${path}`, () => {
    symlinkSync(target, draft);
    try {
      renameSync(draft, path);
    } catch (error) {
      unlinkSync(draft);
      throw error;
    }
  });
}

function readLink(path: string): string | undefined {
  try {
    return unlessMissing(`readlink ${path}`, () => readlinkSync(path));
  } catch (error) {
    if (error instanceof HostCallFailed && error.errno === 'EINVAL') return undefined; // there, but not a link
    throw error;
  }
}

async function stat(path: string, signal: AbortSignal): Promise<FileFacts | undefined> {
  try {
    const stats = await abandonable(lstat(path), signal);
    return {
      kind: kindOf(stats),
      mode: stats.mode & 0o7777,
      uid: stats.uid,
      gid: stats.gid,
      sizeBytes: stats.size,
      modifiedAtMs: stats.mtimeMs,
    };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    return hostCall(`stat ${path}`, () => {
      throw error;
    });
  }
}

/** The system call itself cannot be called off: on a file server that is gone it ends some day, and nobody waits for it. */
async function abandonable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget: () => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(reasonOf(signal)));
  });
  try {
    return await Promise.race([work, lost]);
  } finally {
    forget();
  }
}

async function removeTree(path: string): Promise<void> {
  const stats = hostCall(`stat ${path}`, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return;
  const root = kernelPath(path);
  const mount = readMountInfo().find(({ target }) => isBelow(target, root));
  if (mount !== undefined) throw new MountBelow({ message: `${path} is not removed: ${mount.target} is mounted`, hint: `umount ${mount.target}` });
  await removeEntry(path, stats.isDirectory(), { left: REMOVALS_A_TURN });
}

/** Removed one after the other in our thread, which is fast for the small trees of pods; others get their turn every so often. */
const REMOVALS_A_TURN = 64;

/** The kernel takes no path above 4096 bytes, but folders may be nested deeper: from here on they are reached through an open one. */
const LONG_PATH = 3000;

async function removeEntry(path: string, isDirectory: boolean, turn: { left: number }): Promise<void> {
  turn.left -= 1;
  if (turn.left <= 0) {
    await nextTurn();
    turn.left = REMOVALS_A_TURN;
  }
  if (!isDirectory) return unlessMissing(`unlink ${path}`, () => unlinkSync(path));
  const opened = path.length > LONG_PATH ? hostCall(`open ${path}`, () => openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW)) : undefined;
  const base = opened === undefined ? path : `/proc/self/fd/${opened}`;
  try {
    const entries = unlessMissing(`readdir ${path}`, () => readdirSync(base, { withFileTypes: true })) ?? [];
    for (const entry of entries) await removeEntry(`${base}/${entry.name}`, entry.isDirectory(), turn);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
  unlessMissing(`rmdir ${path}`, () => rmdirSync(path));
}

function toEntry(entry: Dirent): { name: string; kind: FileFacts['kind'] } {
  return { name: entry.name, kind: kindOf(entry) };
}

function kindOf(of: Stats | Dirent): FileFacts['kind'] {
  if (of.isDirectory()) return 'directory';
  if (of.isSymbolicLink()) return 'symlink';
  if (of.isSocket()) return 'socket';
  if (of.isBlockDevice()) return 'block';
  if (of.isCharacterDevice()) return 'char';
  return of.isFIFO() ? 'fifo' : 'file';
}

function readEnd(path: string, maxBytes: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(file);
  }
}
