import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '#base/errors.ts';
import type { HostCgroups } from '#cluster/ports/cgroups.ts';
import { errnoOf } from './errno.ts';
import { readMountInfo } from './mountinfo.ts';

/** Control groups of all hierarchies that are mounted, v1 and v2 alike. */
export function createHostCgroups(): HostCgroups {
  return {
    listBelow: async (root) => [...new Set(hierarchies().flatMap((mount) => below(mount, root)))].sort((left, right) => right.length - left.length),
    processesIn: async (cgroup) => [...new Set(hierarchies().flatMap((mount) => processesIn(join(mount, cgroup))))],
    async removeTree(root) {
      for (const mount of hierarchies()) for (const cgroup of below(mount, root)) removeGroup(join(mount, cgroup));
    },
  };
}

function hierarchies(): readonly string[] {
  const mounts = readMountInfo().filter(
    (mount) => (mount.fsType === 'cgroup' || mount.fsType === 'cgroup2') && mount.target.startsWith('/sys/fs/cgroup'),
  );
  return [...new Set(mounts.map((mount) => mount.target))];
}

/** Deepest first. */
function below(mount: string, cgroup: string): readonly string[] {
  try {
    const children = readdirSync(join(mount, cgroup), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...children.flatMap((entry) => below(mount, join(cgroup, entry.name))), cgroup];
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function processesIn(directory: string): readonly number[] {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return []; // gone, or of a kind that holds threads
  }
}

function removeGroup(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return;
    if (errno === 'EBUSY')
      throw new Unavailable({ message: `control group ${directory} still has processes: ${processesIn(directory).join(', ')}`, cause: error });
    throw error;
  }
}
