import { PathEscapes } from '#kubelet/ports/host-errors.ts';
import type { BindOptions, MounterPort } from '#kubelet/ports/mounter.ts';
import { type Found, type MemoryMount, type MemoryTree, newNode } from './memory-tree.ts';

/** Mounts of a pretended node: the same tree as its files, so that what is mounted is seen through the files. */
export function createMemoryMounter(tree: MemoryTree): MounterPort {
  const mounter: MounterPort = {
    bind: async (source, target, options) => bind(tree, tree.get(source, true), source, target, options),
    async tmpfs(target, { mode }) {
      const { path } = tree.get(target, false);
      const present = tree.mountAt(path);
      if (present?.fsType === 'tmpfs') return;
      replace(tree, { target: path, source: 'tmpfs', fsType: 'tmpfs', root: newNode('directory', mode), readOnly: false });
    },
    async hugePages(target) {
      const { path } = tree.get(target, false);
      if (tree.mountAt(path)?.fsType === 'hugetlbfs') return;
      replace(tree, { target: path, source: 'nodev', fsType: 'hugetlbfs', root: newNode('directory', 0o755), readOnly: false });
    },
    async bindBelow(root, relative, target) {
      const source = openBelow(tree, root, relative);
      const { node, name } = tree.parent(target);
      if (!node.children.has(name)) node.children.set(name, newNode(source.node.kind === 'directory' ? 'directory' : 'file', 0o750));
      bind(tree, source, source.path, target, { readOnly: false, recursive: false });
    },
    async unmount(target) {
      const path = canonical(tree, target);
      tree.mounts = tree.mounts.filter((mount) => mount.target !== path);
    },
    async listBelow(root) {
      const path = canonical(tree, root);
      const below = tree.mounts.filter(({ target }) => path === '/' || target === path || target.startsWith(`${path}/`));
      return below
        .map(({ target, source, fsType }) => ({ target, source, fsType }))
        .sort((a, b) => b.target.split('/').length - a.target.split('/').length);
    },
  };
  return mounter;
}

function bind(tree: MemoryTree, source: Found, sourceName: string, target: string, { readOnly }: BindOptions): void {
  const { path } = tree.get(target, false);
  const mount: MemoryMount = { target: path, source: sourceName, fsType: 'memory', root: source.node, readOnly };
  replace(tree, mount);
}

function replace(tree: MemoryTree, mount: MemoryMount): void {
  tree.mounts = [...tree.mounts.filter(({ target }) => target !== mount.target), mount];
}

function openBelow(tree: MemoryTree, root: string, relative: string): Found {
  const top = tree.get(root, true);
  const names = relative.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw escapes(root, relative);
  for (let length = 1; length <= names.length; length += 1) {
    const path = [top.path, ...names.slice(0, length)].join('/');
    const present = tree.find(path, true);
    if (present !== undefined && !isBelow(present, top)) throw escapes(root, relative);
    if (present !== undefined) continue;
    const { node, name } = tree.parent(path);
    node.children.set(name, newNode('directory', top.node.mode));
  }
  return tree.get([top.path, ...names].join('/'), true);
}

function isBelow(found: Found, top: Found): boolean {
  return found.path === top.path || found.path.startsWith(`${top.path}/`);
}

function canonical(tree: MemoryTree, path: string): string {
  return tree.find(path, false)?.path ?? path;
}

function escapes(root: string, relative: string): PathEscapes {
  return new PathEscapes({ message: `${relative} leads out of ${root}` });
}
