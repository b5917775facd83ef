import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hostCall } from './errno.ts';

/** One line of `/proc/self/mountinfo`. */
export interface MountInfo {
  readonly target: string;
  /** Path inside the mounted file system; a bind mount of a folder has that folder here. */
  readonly root: string;
  /** Per-mount options: `rw`, `nosuid`, `relatime`... */
  readonly options: readonly string[];
  readonly fsType: string;
  readonly source: string;
}

/** Source: proc(5), "/proc/pid/mountinfo": optional fields end at a lone `-`. */
export function parseMountInfo(text: string): readonly MountInfo[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const dash = fields.indexOf('-', 6);
    if (dash < 0) return [];
    const [root = '', target = '', options = ''] = fields.slice(3, 6);
    const [fsType = '', source = ''] = fields.slice(dash + 1);
    return [{ target: unescaped(target), root: unescaped(root), options: options.split(','), fsType, source: unescaped(source) }];
  });
}

/** The mounts of our own mount namespace, in the order in which they were made. */
export function readMountInfo(): readonly MountInfo[] {
  return parseMountInfo(hostCall('read /proc/self/mountinfo', () => readFileSync('/proc/self/mountinfo', 'utf8')));
}

/** The path as the kernel shows it: links on the way resolved, the last part left alone (a mount is never seen through a link). */
export function kernelPath(path: string): string {
  if (path === '/') return path;
  const parent = dirname(path);
  try {
    return join(realpathSync.native(parent), basename(path));
  } catch {
    return join(path); // not there: then nothing is mounted there either
  }
}

export function isBelow(path: string, root: string): boolean {
  return path === root || root === '/' || path.startsWith(`${root}/`);
}

function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))) : text;
}
