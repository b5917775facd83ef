import { type KubeletRoots, podDirectory, podPaths } from './paths.ts';
import type { FilesPort } from './ports/files.ts';
import type { PodDirectoriesPort } from './ports/pod-directories.ts';

const mode = 0o750;

export function createPodDirectories(files: FilesPort, roots: KubeletRoots): PodDirectoriesPort {
  return {
    async ensure(pod, signal) {
      const paths = podPaths(roots, pod);
      await files.ensureDirectory(paths.pod, mode, signal);
      await Promise.all([paths.volumes, paths.plugins].map((path) => files.ensureDirectory(path, mode, signal)));
      return paths.pod;
    },
    async find(podUid, signal) {
      const path = podDirectory(roots, podUid);
      return (await files.stat(path, signal)) === undefined ? undefined : path;
    },
    remove: (podUid, signal) => files.removeTree(podDirectory(roots, podUid), signal),
  };
}
