import { dirname } from 'node:path';
import type { FilesPort } from '../ports/files.ts';
import type { MounterPort } from '../ports/mounter.ts';
import type { SubPath } from '../ports/volumes.ts';
import { podVolumes, subPathTarget, type VolumeRoots } from './volume-paths.ts';

interface SubPathPorts {
  readonly files: FilesPort;
  readonly mounter: MounterPort;
  readonly roots: VolumeRoots;
}

/**
 * A part of a volume as a mount of its own: the runtime mounts that, so that no link which a container puts into the volume meanwhile can
 * lead the runtime to another place of the node.
 *
 * @throws {PathEscapes} when the part is outside of its volume
 */
export async function prepareSubPath({ files, mounter, roots }: SubPathPorts, subPath: SubPath, signal: AbortSignal): Promise<string> {
  const { podUid, volume, containerName, index, relative } = subPath;
  const target = subPathTarget(roots, podUid, volume.name, containerName, index);
  await files.ensureDirectory(dirname(target), 0o750, signal);
  await mounter.bindBelow(volume.hostPath, relative, target, signal);
  return target;
}

/** Before the volumes themselves are taken down: these mounts hold them. */
export async function removeSubPaths({ files, mounter, roots }: SubPathPorts, podUid: string, signal: AbortSignal): Promise<void> {
  const { subPaths } = podVolumes(roots, podUid);
  if ((await files.stat(subPaths, signal)) === undefined) return;
  for (const { target } of await mounter.listBelow(subPaths, signal)) await mounter.unmount(target, signal);
  await files.removeTree(subPaths, signal);
}
