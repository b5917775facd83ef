import { lstat, readdir } from 'node:fs/promises';
import { throwIfAborted } from '#base/abort.ts';
import type { DirectoryUsage } from '#kubelet/ports/usage.ts';
import { errnoOf, hostError } from './errno.ts';

/** `st_blocks` counts these, whatever the file system's own size. */
const blockBytes = 512;
/** Files of one directory that are looked at together: a walk must not fill the thread pool. */
const lookAhead = 8;

/** @throws {HostCallFailed} when a directory may not be read */
export async function directoryUsage(path: string, signal: AbortSignal): Promise<DirectoryUsage | undefined> {
  const top = await factsOf(path);
  if (top === undefined) return undefined;
  const total = { bytes: 0, inodes: 0 };
  const counted = new Set<number>();
  const ahead: string[] = [];

  /** @returns whether there may be more below it */
  const count = (facts: Facts): boolean => {
    if (facts.dev !== top.dev) return false;
    if (facts.nlink > 1 && !facts.isDirectory()) {
      if (counted.has(facts.ino)) return false;
      counted.add(facts.ino);
    }
    total.bytes += facts.blocks * blockBytes;
    total.inodes += 1;
    return facts.isDirectory();
  };

  if (count(top)) ahead.push(path);
  for (let directory = ahead.pop(); directory !== undefined; directory = ahead.pop()) {
    const names = await namesIn(directory);
    for (let at = 0; at < names.length; at += lookAhead) {
      throwIfAborted(signal);
      const children = names.slice(at, at + lookAhead).map((name) => `${directory}/${name}`);
      const facts = await Promise.all(children.map(factsOf));
      for (const [index, child] of children.entries()) {
        const found = facts[index];
        if (found !== undefined && count(found)) ahead.push(child);
      }
    }
  }
  return total;
}

type Facts = Awaited<ReturnType<typeof lstat>> & { readonly dev: number; readonly ino: number; readonly nlink: number; readonly blocks: number };

/** What goes away meanwhile counts for nothing. */
async function factsOf(path: string): Promise<Facts | undefined> {
  return await unlessGone(`lstat ${path}`, () => lstat(path));
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await unlessGone(`readdir ${directory}`, () => readdir(directory))) ?? [];
}

async function unlessGone<T>(doing: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const errno = errnoOf(error) ?? 'EIO';
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
    throw hostError(errno, doing, error);
  }
}
