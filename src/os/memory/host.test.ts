import { filesContract } from '#os/contracts/files.ts';
import { mounterContract } from '#os/contracts/mounter.ts';
import { createMemoryFiles } from './files.ts';
import { MemoryTree } from './memory-tree.ts';
import { createMemoryMounter } from './mounter.ts';

async function open() {
  const tree = new MemoryTree();
  const files = createMemoryFiles(tree);
  await files.ensureDirectory('/host', 0o755, new AbortController().signal);
  return { files, mounter: createMemoryMounter(tree), dir: '/host' };
}

filesContract('memory', open);
mounterContract('memory', open);
