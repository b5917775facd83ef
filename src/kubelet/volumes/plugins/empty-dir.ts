import { podLimits } from '#api/pod/requests.ts';
import { quantityToNumber } from '#api/quantity.ts';
import { quote } from '#api/quote.ts';
import type { EmptyDirVolumeSource, Pod } from '#api/types/core-v1.ts';
import { isLimited } from '../../resources/is-limited.ts';
import { giveToGroup } from '../ownership.ts';
import { pluginDirectory, readyMarker } from '../volume-paths.ts';
import { type VolumePlugin, VolumeSetUpFailed } from '../volume-plugin.ts';
import { hugePageBytes } from './huge-page-bytes.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

const NAME = 'kubernetes.io~empty-dir';

/** Room of the pod's own, on disk or in memory, as long as the pod lives. A size limit on disk is the eviction's business. */
export function emptyDirPlugin(dependencies: PluginDependencies): VolumePlugin {
  const { files, mounter, roots, logger } = dependencies;
  const pathOf = (podUid: string, volumeName: string) => `${pluginDirectory(roots, podUid, NAME)}/${volumeName}`;

  return {
    name: NAME,
    supports: ({ emptyDir }) => emptyDir !== undefined,
    refs: () => [],
    readsPod: () => false,
    async setUp(volume, pod, signal) {
      const { medium = '' } = volume.emptyDir ?? {};
      const isHuge = medium.startsWith('HugePages');
      if (medium !== '' && medium !== 'Memory' && !isHuge) throw new VolumeSetUpFailed({ message: `unknown storage medium ${quote(medium)}` });
      const pageBytes = isHuge ? hugePageBytes(medium, pod.spec) : 0;
      const hostPath = pathOf(pod.metadata.uid, volume.name);
      const marker = readyMarker(roots, pod.metadata.uid, volume.name);
      const ready = { hostPath, readOnly: false, relabel: true };
      const isMarked = (await files.stat(marker.file, signal)) !== undefined;
      const isThere = isMarked && (await files.stat(hostPath, signal)) !== undefined;
      // From here on the content, its modes and owners are the containers' own: nothing is touched again.
      if (isThere && (medium === '' || (await mounter.listBelow(hostPath, signal)).length > 0)) return ready;

      await files.ensureDirectory(hostPath, 0o777, signal);
      if (medium === 'Memory')
        await mounter.tmpfs(hostPath, { sizeBytes: memorySize(volume.emptyDir, pod, dependencies.allocatable()), mode: 0o1777 }, signal);
      if (isHuge) await mounter.hugePages(hostPath, { pageBytes }, signal);
      const groupId = pod.spec?.securityContext?.fsGroup;
      if (groupId !== undefined) await giveToGroup(files, hostPath, { groupId, readOnly: false, logger }, signal);
      await files.ensureDirectory(marker.directory, 0o750, signal);
      await files.write(marker.file, '', 0o640, signal);
      return ready;
    },
    async tearDown(podUid, volumeName, signal) {
      const hostPath = pathOf(podUid, volumeName);
      await files.removeTree(readyMarker(roots, podUid, volumeName).directory, signal);
      // What a container mounted in it and let the host see too: its files are not the pod's.
      for (const { target } of await mounter.listBelow(hostPath, signal)) await mounter.unmount(target, signal);
      await files.removeTree(hostPath, signal);
    },
    reconstruct: async (podUid, signal) => (await files.list(pluginDirectory(roots, podUid, NAME), signal)).map(({ name }) => name),
  };
}

/**
 * The smallest of the node's memory, the pod's limit and the volume's own; 0 for none of them.
 */
function memorySize(source: EmptyDirVolumeSource | undefined, pod: Pod, allocatable: Readonly<Record<string, string>>): number {
  const ofPod = pod.spec !== undefined && isLimited(pod.spec, 'memory') ? (podLimits(pod).get('memory') ?? 0) : 0;
  const bounds = [quantityToNumber(allocatable['memory'] ?? '0'), ofPod, quantityToNumber(source?.sizeLimit ?? '0')].filter((bytes) => bytes > 0);
  return bounds.length === 0 ? 0 : Math.min(...bounds);
}
