import { gzipSync } from 'node:zlib';
import { throwIfAborted } from '#base/abort.ts';
import type { FileFacts, FilesPort } from '#kubelet/ports/files.ts';
import { HostCallFailed, MountBelow, PathEscapes } from '#kubelet/ports/host-errors.ts';
import { type MemoryNode, type MemoryTree, newNode, textOf } from './memory-tree.ts';

/** Files of a pretended node. */
export function createMemoryFiles(tree: MemoryTree): FilesPort {
  return {
    async ensureDirectory(path, mode) {
      makeDirectories(tree, path, mode);
      tree.get(path, true).node.mode = mode;
    },
    read: async (path) => readFile(tree, path),
    readEnd: async (path, maxBytes) => readFile(tree, path)?.slice(-maxBytes),
    async readBelow(root, relative) {
      const top = tree.find(root, true);
      const found = tree.find(`${root}/${relative}`, true);
      if (top === undefined || found === undefined) return undefined;
      if (!found.path.startsWith(`${top.path}/`)) throw new PathEscapes({ message: `${relative} leads out of ${root}` });
      return found.node.kind === 'file' ? readFile(tree, found.path) : undefined;
    },
    async write(path, content, mode) {
      const { node, name } = tree.parent(path);
      if (node.children.get(name)?.kind === 'directory') throw refused(path, 'EISDIR');
      node.children.set(name, newNode('file', mode, typeof content === 'string' ? new TextEncoder().encode(content) : content.slice()));
    },
    async compress(from, to, mode, signal) {
      throwIfAborted(signal);
      const packed = gzipSync(tree.get(from, true).node.content);
      const { node, name } = tree.parent(to);
      node.children.set(name, newNode('file', mode, packed));
    },
    async list(path) {
      const found = tree.find(path, true);
      return found === undefined ? [] : [...found.node.children].map(([name, { kind }]) => ({ name, kind }));
    },
    async stat(path, signal) {
      throwIfAborted(signal);
      const found = tree.find(path, false);
      return found === undefined ? undefined : factsOf(found.node);
    },
    async readLink(path) {
      const node = tree.find(path, false)?.node;
      return node?.kind === 'symlink' ? textOf(node) : undefined;
    },
    async link(target, path) {
      const { node, name } = tree.parent(path);
      if (node.children.get(name)?.kind === 'directory') throw refused(path, 'EISDIR');
      node.children.set(name, newNode('symlink', 0o777, new TextEncoder().encode(target)));
    },
    async rename(from, to) {
      const moved = tree.get(from, false).node;
      const [source, destination] = [tree.parent(from), tree.parent(to)];
      source.node.children.delete(source.name);
      destination.node.children.set(destination.name, moved);
    },
    async changeOwner(path, uid, gid) {
      const { node } = tree.get(path, false);
      if (uid >= 0) node.uid = uid;
      if (gid >= 0) node.gid = gid;
    },
    async changeMode(path, mode) {
      tree.get(path, true).node.mode = mode;
    },
    removeTree: async (path) => removeTree(tree, path),
  };
}

function makeDirectories(tree: MemoryTree, path: string, mode: number): void {
  const parts = path.split('/').filter((part) => part !== '');
  for (let length = 1; length <= parts.length; length += 1) {
    const prefix = `/${parts.slice(0, length).join('/')}`;
    const found = tree.find(prefix, true);
    if (found === undefined) {
      const { node, name } = tree.parent(prefix);
      node.children.set(name, newNode('directory', mode));
    } else if (found.node.kind !== 'directory') throw refused(path, length === parts.length ? 'EEXIST' : 'ENOTDIR');
  }
}

function readFile(tree: MemoryTree, path: string): Uint8Array | undefined {
  const node = tree.find(path, true)?.node;
  if (node === undefined) return undefined;
  if (node.kind !== 'file') throw refused(path, 'EISDIR');
  return node.content.slice();
}

function removeTree(tree: MemoryTree, path: string): void {
  const found = tree.find(path, false);
  if (found === undefined) return;
  const mount = tree.mounts.find(({ target }) => target === found.path || target.startsWith(`${found.path}/`));
  if (mount !== undefined) throw new MountBelow({ message: `${path} is not removed: ${mount.target} is mounted` });
  const { node, name } = tree.parent(path);
  node.children.delete(name);
}

function factsOf(node: MemoryNode): FileFacts {
  const { kind, mode, uid, gid, modifiedAtMs } = node;
  return { kind, mode, uid, gid, modifiedAtMs, sizeBytes: node.content.length };
}

function refused(path: string, errno: string): HostCallFailed {
  return new HostCallFailed({ message: `${path}: ${errno}`, errno });
}
