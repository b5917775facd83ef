import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Unavailable } from '#base/errors.ts';
import type { HostMounts } from '#cluster/ports/mounts.ts';
import type { HostProcesses } from '#cluster/ports/processes.ts';
import { isBelow, kernelPath, readMountInfo } from './mountinfo.ts';

/** Mounts through `mount(8)`: a handful in a cluster's life, so its 3 ms do not matter. */
export function createHostMounts(processes: HostProcesses): HostMounts {
  const must = async (program: string, args: readonly string[], signal: AbortSignal): Promise<void> => {
    const result = await processes.run(program, args, '', signal);
    if (result.status !== 0) throw new Unavailable({ message: `${program} ${args.join(' ')}: ${result.stderr.trim()}` });
  };
  const mountsAt = (target: string) => readMountInfo().filter((mount) => mount.target === kernelPath(target)).length;
  return {
    async ensureTmpfs(target, sizeBytes, signal) {
      if (mountsAt(target) > 0) return;
      await mkdir(target, { recursive: true });
      await must('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes},mode=0711,nosuid,nodev`, 'kubernode', target], signal);
    },
    async unmount(target, signal) {
      // Lazily: what a process that is about to end still holds must not keep the cluster from going.
      for (let left = mountsAt(target); left > 0; left -= 1) await must('umount', ['--lazy', '--no-canonicalize', target], signal);
    },
    async listBelow(root) {
      const real = kernelPath(root);
      return readMountInfo()
        .filter((mount) => isBelow(mount.target, real))
        .map(({ target, fsType }) => ({ target, fsType }))
        .sort((left, right) => right.target.length - left.target.length);
    },
    async canOverlay(directory, signal) {
      await mkdir(directory, { recursive: true });
      const trial = await mkdtemp(join(directory, 'overlay-'));
      const folders = ['lower', 'upper', 'work', 'merged'].map((name) => join(trial, name));
      const [lower, upper, work, merged] = folders;
      try {
        for (const folder of folders) await mkdir(folder);
        const args = ['-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'overlay', merged ?? ''];
        if ((await processes.run('mount', args, '', signal)).status !== 0) return false;
        await must('umount', [merged ?? ''], signal);
        return true;
      } finally {
        await rm(trial, { recursive: true, force: true });
      }
    },
  };
}
