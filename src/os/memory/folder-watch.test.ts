import { folderWatchContract } from '#os/contracts/folder-watch.ts';
import { createMemoryFiles } from './files.ts';
import { watchedMemoryFiles } from './folder-watch.ts';
import { MemoryTree } from './memory-tree.ts';

folderWatchContract('memory', async () => {
  const tree = new MemoryTree();
  const watched = watchedMemoryFiles(tree, createMemoryFiles(tree));
  await watched.files.ensureDirectory('/host', 0o755, new AbortController().signal);
  return { ...watched, dir: '/host' };
});
