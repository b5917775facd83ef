import type { FileFacts } from '#kubelet/ports/files.ts';
import { HostCallFailed, PathMissing } from '#kubelet/ports/host-errors.ts';

/** An inode of the pretended node. Changed in place: it is the world, not a value. */
export interface MemoryNode {
  readonly kind: FileFacts['kind'];
  mode: number;
  uid: number;
  gid: number;
  modifiedAtMs: number;
  /** Of a file; a link has its target here. */
  content: Uint8Array;
  readonly children: Map<string, MemoryNode>;
}

export interface MemoryMount {
  readonly target: string;
  readonly source: string;
  readonly fsType: string;
  readonly root: MemoryNode;
  readonly readOnly: boolean;
}

export interface Found {
  /** Without links on the way. */
  readonly path: string;
  readonly node: MemoryNode;
}

export function newNode(kind: FileFacts['kind'], mode: number, content: Uint8Array = new Uint8Array()): MemoryNode {
  return { kind, mode, uid: 0, gid: 0, modifiedAtMs: 0, content, children: new Map() };
}

/** The tree of inodes with what is mounted over it. */
export class MemoryTree {
  readonly root = newNode('directory', 0o755);
  /** In the order in which they were made; the last one of a target is on top. */
  mounts: readonly MemoryMount[] = [];

  /** @param followLast whether a link at the end is followed */
  find(path: string, followLast: boolean): Found | undefined {
    return this.#walk(path, followLast, 0);
  }

  /** @throws {PathMissing} */
  get(path: string, followLast: boolean): Found {
    const found = this.find(path, followLast);
    if (found === undefined) throw new PathMissing({ message: `${path}: ENOENT`, errno: 'ENOENT' });
    return found;
  }

  /** The folder that holds `path`, and the last part of its name. @throws {PathMissing} */
  parent(path: string): { readonly node: MemoryNode; readonly path: string; readonly name: string } {
    const parts = partsOf(path);
    const name = parts.at(-1) ?? '';
    const { node, path: parentPath } = this.get(`/${parts.slice(0, -1).join('/')}`, true);
    if (node.kind !== 'directory') throw new HostCallFailed({ message: `${path}: ENOTDIR`, errno: 'ENOTDIR' });
    if (this.mountAt(parentPath)?.readOnly === true) throw new HostCallFailed({ message: `${path}: EROFS`, errno: 'EROFS' });
    return { node, path: parentPath, name };
  }

  mountAt(path: string): MemoryMount | undefined {
    return this.mounts.findLast(({ target }) => target === path);
  }

  #walk(path: string, followLast: boolean, links: number): Found | undefined {
    if (links > 40) throw new HostCallFailed({ message: `${path}: ELOOP`, errno: 'ELOOP' });
    const parts = partsOf(path);
    let at: Found = { path: '/', node: this.mountAt('/')?.root ?? this.root };
    for (const [index, name] of parts.entries()) {
      const below = at.path === '/' ? `/${name}` : `${at.path}/${name}`;
      const node = this.mountAt(below)?.root ?? at.node.children.get(name);
      if (node === undefined) return undefined;
      const isLast = index === parts.length - 1;
      if (node.kind === 'symlink' && (!isLast || followLast)) {
        const rest = parts.slice(index + 1);
        return this.#walk([absolute(textOf(node), at.path), ...rest].join('/'), followLast, links + 1);
      }
      at = { path: below, node };
    }
    return at;
  }
}

export function textOf(node: MemoryNode): string {
  return new TextDecoder().decode(node.content);
}

function absolute(target: string, from: string): string {
  return target.startsWith('/') ? target : `${from}/${target}`;
}

function partsOf(path: string): readonly string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}
