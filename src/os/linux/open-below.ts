import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative as relativeTo } from 'node:path';
import { PathEscapes } from '#kubelet/ports/host-errors.ts';
import { errnoOf, hostCall, unlessMissing } from './errno.ts';

/** open(2)'s O_PATH, which Node.js does not name: a handle on the entry itself, without opening what it is. */
const O_PATH = 0o10_000_000;
const ENTRY = O_PATH | constants.O_NOFOLLOW;

export interface OpenedEntry {
  /** The caller closes it. */
  readonly fd: number;
  readonly isDirectory: boolean;
}

/**
 * Opens what is at `relative` below `root`, made as folders with the mode of `root` where missing. The path is resolved first and then
 * walked part by part without following links, so that a link put there in between is seen, not followed.
 *
 * @throws {PathEscapes} when it leads out of `root`
 */
export function openBelow(root: string, relative: string): OpenedEntry {
  const realRoot = hostCall(`resolve ${root}`, () => realpathSync.native(root));
  createMissing(realRoot, relative);
  return openPresent(realRoot, relative);
}

/**
 * Reads the file at `relative` below `root` with the same care; makes nothing.
 *
 * @returns `undefined` when it is not there or no regular file
 * @throws {PathEscapes} when it leads out of `root`
 */
export function readBelow(root: string, relative: string): Buffer | undefined {
  const realRoot = unlessMissing(`resolve ${root}`, () => realpathSync.native(root));
  if (realRoot === undefined) return undefined;
  const isThere = unlessMissing(`resolve ${relative}`, () => realpathSync.native(`${realRoot}/${relative}`)) !== undefined;
  if (!isThere) return undefined;
  const { fd } = openPresent(realRoot, relative);
  try {
    return fstatSync(fd).isFile() ? readFileSync(`/proc/self/fd/${fd}`) : undefined; // a pipe would hold us
  } finally {
    closeSync(fd);
  }
}

function openPresent(realRoot: string, relative: string): OpenedEntry {
  const realPath = hostCall(`resolve ${relative}`, () => realpathSync.native(`${realRoot}/${relative}`));
  if (realPath !== realRoot && !realPath.startsWith(`${realRoot}/`)) throw escapes(relative, realRoot);
  const fd = walk(realRoot, parts(relativeTo(realRoot, realPath)));
  return { fd, isDirectory: fstatSync(fd).isDirectory() };
}

/** Makes the folder or the empty file that a bind mount needs as its target; what is there is left alone. */
export function ensureMountPoint(target: string, isDirectory: boolean): void {
  hostCall(`make ${target}`, () => {
    mkdirSync(isDirectory ? target : dirname(target), { recursive: true, mode: 0o750 });
    if (isDirectory) return;
    try {
      writeFileSync(target, '', { flag: 'wx', mode: 0o640 });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
  });
}

function walk(root: string, names: readonly string[]): number {
  let fd = hostCall(`open ${root}`, () => openSync(root, ENTRY));
  for (const name of names) fd = replaceBy(fd, () => openEntry(fd, name));
  return fd;
}

function openEntry(parent: number, name: string): number {
  const fd = hostCall(`open ${name}`, () => openSync(`/proc/self/fd/${parent}/${name}`, ENTRY));
  if (!fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new PathEscapes({ message: `unexpected symlink found ${name}` });
}

/** Goes down as far as folders are there, then makes the rest below an open handle, so that no link can lead it elsewhere. */
function createMissing(realRoot: string, relative: string): void {
  const { mode } = statSync(realRoot);
  const names = parts(relative);
  if (names.includes('..')) throw escapes(relative, realRoot);
  const present = deepestPresent(realRoot, names);
  if (present.missing.length === 0) return;
  if (present.path !== realRoot && !present.path.startsWith(`${realRoot}/`)) throw escapes(relative, realRoot);
  let fd = walk(realRoot, parts(relativeTo(realRoot, present.path)));
  try {
    for (const name of present.missing) {
      fd = replaceBy(fd, () => {
        hostCall(`mkdir ${name}`, () => mkdirSync(`/proc/self/fd/${fd}/${name}`, { mode: mode & 0o7777 }));
        const made = openEntry(fd, name);
        setMode(made, mode & 0o7777);
        return made;
      });
    }
  } finally {
    closeSync(fd);
  }
}

function deepestPresent(realRoot: string, names: readonly string[]): { readonly path: string; readonly missing: readonly string[] } {
  for (let length = names.length; length > 0; length -= 1) {
    try {
      return { path: realpathSync.native([realRoot, ...names.slice(0, length)].join('/')), missing: names.slice(length) };
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  return { path: realRoot, missing: names };
}

/** mkdir's mode goes through the umask. A handle made with O_PATH cannot be changed itself, so it is opened again through itself. */
function setMode(handle: number, mode: number): void {
  const fd = openSync(`/proc/self/fd/${handle}`, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** The next handle in place of this one, which is closed either way. */
function replaceBy(fd: number, next: () => number): number {
  try {
    return next();
  } finally {
    closeSync(fd);
  }
}

function parts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function escapes(relative: string, root: string): PathEscapes {
  return new PathEscapes({ message: `${relative} leads out of ${root}`, hint: 'a subPath must stay inside its volume' });
}
