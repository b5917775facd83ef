import { dirname, isAbsolute, join } from 'node:path';
import type { FileFacts, FilesPort } from '../../ports/files.ts';
import { type VolumePlugin, VolumeSetUpFailed } from '../volume-plugin.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

interface PathType {
  readonly kind: FileFacts['kind'];
  /** As in `/x is not a ...`. */
  readonly called: string;
  readonly create: boolean;
}

const TYPES: Readonly<Record<string, PathType>> = {
  DirectoryOrCreate: { kind: 'directory', called: 'directory', create: true },
  Directory: { kind: 'directory', called: 'directory', create: false },
  FileOrCreate: { kind: 'file', called: 'file', create: true },
  File: { kind: 'file', called: 'file', create: false },
  Socket: { kind: 'socket', called: 'socket file', create: false },
  CharDevice: { kind: 'char', called: 'character device', create: false },
  BlockDevice: { kind: 'block', called: 'block device', create: false },
};

const LINKS_MAX = 40;

/** A path of the node itself: nothing to make but what the type says, nothing to take away, no owner or label changed. */
export function hostPathPlugin({ files }: PluginDependencies): VolumePlugin {
  return {
    name: 'kubernetes.io~host-path',
    supports: ({ hostPath }) => hostPath !== undefined,
    refs: () => [],
    readsPod: () => false,
    async setUp({ hostPath }, _pod, signal) {
      const path = hostPath?.path ?? '';
      if (path.split('/').includes('..')) throw new VolumeSetUpFailed({ message: `invalid HostPath \`${path}\`: must not contain '..'` });
      await checkType(files, path, hostPath?.type ?? '', signal);
      return { hostPath: path, readOnly: false, relabel: false };
    },
    tearDown: async () => undefined,
    reconstruct: async () => [],
  };
}

async function checkType(files: FilesPort, path: string, typeName: string, signal: AbortSignal): Promise<void> {
  if (typeName === '') return;
  const type = TYPES[typeName];
  if (type === undefined) throw new VolumeSetUpFailed({ message: `${typeName} is an invalid volume type` });
  const present = await follow(files, path, signal);
  if (present?.kind === type.kind) return;
  if (present !== undefined || !type.create) {
    throw new VolumeSetUpFailed({ message: `hostPath type check failed: ${path} is not a ${type.called}`, hint: `look at ${path} on the node` });
  }
  if (type.kind === 'directory') await files.ensureDirectory(path, 0o755, signal);
  else await files.write(path, '', 0o644, signal);
}

/** What is there at the end of all links. */
async function follow(files: FilesPort, path: string, signal: AbortSignal): Promise<FileFacts | undefined> {
  let at = path;
  for (let links = 0; links < LINKS_MAX; links += 1) {
    const facts = await files.stat(at, signal);
    if (facts?.kind !== 'symlink') return facts;
    const target = await files.readLink(at, signal);
    if (target === undefined) return undefined;
    at = isAbsolute(target) ? target : join(dirname(at), target);
  }
  return undefined;
}
