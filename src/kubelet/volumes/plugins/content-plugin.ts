import type { Pod, Volume } from '#api/types/core-v1.ts';
import { type Payload, writeAtomically } from '../atomic-writer.ts';
import { giveToGroup } from '../ownership.ts';
import { memoryPluginDirectory, pluginDirectory, podVolumes } from '../volume-paths.ts';
import type { VolumePlugin } from '../volume-plugin.ts';
import { nestedMountPoints } from '../wanted.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

export interface Content {
  readonly payload: Payload;
  /** Epoch: from here on it is out of date. */
  readonly refreshAtMs?: number | undefined;
}

export interface ContentSource extends Pick<VolumePlugin, 'name' | 'supports' | 'refs' | 'readsPod'> {
  /** Whether it must not reach a disk. */
  readonly inMemory: boolean;
  content(volume: Volume, pod: Pod, signal: AbortSignal): Promise<Content>;
  /** What else ends with the volume. */
  readonly forget?: (podUid: string) => void;
}

/** A plugin whose volumes are files that we write. Containers can only read them. */
export function contentPlugin(source: ContentSource, { files, roots, clock, random, logger }: PluginDependencies): VolumePlugin {
  const parentOf = (podUid: string) => (source.inMemory ? memoryPluginDirectory : pluginDirectory)(roots, podUid, source.name);
  const { name, supports, refs, readsPod } = source;

  return {
    name,
    supports,
    refs,
    readsPod,
    prepare: (volume, pod, signal) => source.content(volume, pod, signal),
    async setUp(volume, pod, signal) {
      const { payload, refreshAtMs } = await source.content(volume, pod, signal); // before the folder is touched: a failure leaves the old content
      const podUid = pod.metadata.uid;
      const hostPath = `${parentOf(podUid)}/${volume.name}`;
      if (source.inMemory) await files.ensureDirectory(podVolumes(roots, podUid).memory, 0o750, signal);
      await files.ensureDirectory(hostPath, 0o777, signal);
      for (const path of nestedMountPoints(volume.name, pod.spec)) await files.ensureDirectory(`${hostPath}/${path}`, 0o755, signal);
      const groupId = pod.spec?.securityContext?.fsGroup;
      const own = async () => {
        if (groupId !== undefined) await giveToGroup(files, hostPath, { groupId, readOnly: true, logger }, signal);
      };
      await writeAtomically({ files, clock, random }, hostPath, payload, own, signal);
      return { hostPath, readOnly: true, relabel: true, refreshAtMs };
    },
    async tearDown(podUid, volumeName, signal) {
      source.forget?.(podUid);
      await files.removeTree(`${parentOf(podUid)}/${volumeName}`, signal);
    },
    reconstruct: async (podUid, signal) => (await files.list(parentOf(podUid), signal)).map((entry) => entry.name),
  };
}
