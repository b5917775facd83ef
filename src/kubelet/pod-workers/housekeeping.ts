import type { Pod } from '#api/types/core-v1.ts';
import { type KubeletRoots, podsDirectory, uidOfLogDirectory } from '../paths.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { PodWorkers } from './pod-workers.ts';

export interface HousekeepingDeps {
  readonly workers: Pick<PodWorkers, 'has' | 'knownUids' | 'keepsNothing' | 'takeDownOrphan'>;
  readonly cache: RuntimeCache;
  readonly files: FilesPort;
  readonly roots: KubeletRoots;
  /** Uids that have a cgroup and are not known. */
  readonly orphanCgroups: (known: ReadonlySet<string>, signal: AbortSignal) => Promise<readonly string[]>;
}

/**
 * Takes down what is left on the node of pods that nobody knows: in the runtime, as folders, as cgroups, as logs. Only when the pods of the
 * API server are known; before that everything would be an orphan.
 */
export async function takeDownOrphans({ workers, cache, files, roots, orphanCgroups }: HousekeepingDeps, signal: AbortSignal): Promise<void> {
  for (const { uid, namespace, name } of cache.all()) if (!workers.has(uid)) workers.takeDownOrphan(nameless(uid, namespace, name));
  const folders = await files.list(podsDirectory(roots), signal);
  for (const { name: uid } of folders) if (!workers.has(uid)) workers.takeDownOrphan(nameless(uid, '', ''));
  for (const uid of await orphanCgroups(workers.knownUids(), signal)) if (!workers.has(uid)) workers.takeDownOrphan(nameless(uid, '', ''));
  for (const { name } of await files.list(roots.podLogs, signal)) {
    const uid = uidOfLogDirectory(name);
    if (uid !== undefined && workers.keepsNothing(uid)) await files.removeTree(`${roots.podLogs}/${name}`, signal);
  }
}

/** A pod of which only its traces are known. */
function nameless(uid: string, namespace: string, name: string): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { uid, namespace, name, resourceVersion: '', creationTimestamp: '' } };
}
