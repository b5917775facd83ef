import type { Pod, Volume } from '#api/types/core-v1.ts';
import { memoryPluginDirectory, pluginDirectory, type VolumeRoots } from '../volumes/volume-paths.ts';

/** A volume whose content is counted file by file. */
export interface MeasuredVolume {
  readonly name: string;
  readonly path: string;
  /** Whether it is on a file system of its own: a tmpfs. */
  readonly inMemory: boolean;
  /** Whether it counts as the pod's ephemeral storage. Source: upstream's list of local ephemeral volumes. */
  readonly isLocalEphemeral: boolean;
}

/** Volumes of a pod that have figures: those of hostPath and of images have none, as upstream. */
export function measuredVolumes(roots: VolumeRoots, pod: Pod): readonly MeasuredVolume[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const found = kindOf(volume);
    if (found === undefined) return [];
    const parentOf = found.below === 'memory' ? memoryPluginDirectory : pluginDirectory;
    const path = `${parentOf(roots, pod.metadata.uid, `kubernetes.io~${found.plugin}`)}/${volume.name}`;
    const inMemory = found.below === 'memory' || volume.emptyDir?.medium === 'Memory';
    const isLocalEphemeral = (volume.emptyDir !== undefined && (volume.emptyDir.medium ?? '') === '') || volume.configMap !== undefined;
    return [{ name: volume.name, path, inMemory, isLocalEphemeral }];
  });
}

function kindOf(volume: Volume): { readonly plugin: string; readonly below: 'disk' | 'memory' } | undefined {
  if (volume.emptyDir !== undefined) return { plugin: 'empty-dir', below: 'disk' };
  if (volume.configMap !== undefined) return { plugin: 'configmap', below: 'disk' };
  if (volume.downwardAPI !== undefined) return { plugin: 'downward-api', below: 'memory' };
  if (volume.secret !== undefined) return { plugin: 'secret', below: 'memory' };
  if (volume.projected !== undefined) return { plugin: 'projected', below: 'memory' };
  return undefined;
}
