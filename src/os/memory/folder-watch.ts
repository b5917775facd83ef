import type { FilesPort } from '#kubelet/ports/files.ts';
import type { FolderWatchPort } from '#kubelet/ports/folder-watch.ts';
import { PathMissing } from '#kubelet/ports/host-errors.ts';
import type { MemoryTree } from './memory-tree.ts';

/** The same files, and somebody who is told of what is changed through them. */
export function watchedMemoryFiles(tree: MemoryTree, files: FilesPort): { readonly files: FilesPort; readonly folderWatch: FolderWatchPort } {
  const watchers = new Set<{ readonly path: string; readonly changed: () => void }>();
  const tell = (...paths: readonly string[]) => {
    const touched = new Set(paths.flatMap((path) => [path, path.slice(0, path.lastIndexOf('/'))]));
    for (const { path, changed } of [...watchers]) if (touched.has(path)) queueMicrotask(changed);
  };
  return {
    files: {
      ...files,
      write: (path, content, mode, signal) => files.write(path, content, mode, signal).then(() => tell(path)),
      rename: (from, to, signal) => files.rename(from, to, signal).then(() => tell(from, to)),
      removeTree: (path, signal) => files.removeTree(path, signal).then(() => tell(path)),
    },
    folderWatch: {
      watch(path, changed) {
        if (tree.find(path, true) === undefined) throw new PathMissing({ message: `${path}: ENOENT`, errno: 'ENOENT' });
        const watcher = { path, changed };
        watchers.add(watcher);
        return () => watchers.delete(watcher);
      },
    },
  };
}
