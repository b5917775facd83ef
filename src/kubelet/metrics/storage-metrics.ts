import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import type { VolumePlugin } from '../volumes/volume-plugin.ts';
import { gauge, histogram } from './families.ts';

export interface VolumeFigure {
  /** Of its plugin, as in its folder. */
  readonly plugin: string;
  readonly isMounted: boolean;
}

/** @returns makes a plugin one whose work is timed */
export function createStorageMetrics(
  registry: Registry,
  clock: Clock,
  volumes: () => readonly VolumeFigure[],
): (plugin: VolumePlugin) => VolumePlugin {
  const seconds = histogram(
    registry,
    'storage_operation_duration_seconds',
    'Duration of what is done to volumes',
    ['volume_plugin', 'operation_name', 'status', 'migrated'],
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  );
  gauge(registry, 'volume_manager_total_volumes', 'Volumes that pods want and that they have', ['plugin_name', 'state'], () => {
    const counts = new Map<string, [{ plugin_name: string; state: string }, number]>();
    const add = (plugin_name: string, state: string): void => {
      const key = `${plugin_name} ${state}`;
      counts.set(key, [{ plugin_name, state }, (counts.get(key)?.[1] ?? 0) + 1]);
    };
    for (const { plugin, isMounted } of volumes()) {
      add(upstreamName(plugin), 'desired_state_of_world');
      if (isMounted) add(upstreamName(plugin), 'actual_state_of_world');
    }
    return counts.values();
  });
  const timed = async <T>(volume_plugin: string, operation_name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = clock.monotonic();
    let status = 'fail-unknown';
    try {
      const result = await work();
      status = 'success';
      return result;
    } finally {
      seconds.observe({ volume_plugin, operation_name, status, migrated: 'false' }, (clock.monotonic() - startedAt) / 1000);
    }
  };
  return (plugin) => {
    const name = upstreamName(plugin.name);
    return {
      ...plugin,
      setUp: (volume, pod, signal) => timed(name, 'volume_mount', () => plugin.setUp(volume, pod, signal)),
      tearDown: (podUid, volumeName, signal) => timed(name, 'volume_unmount', () => plugin.tearDown(podUid, volumeName, signal)),
    };
  };
}

/** `kubernetes.io~empty-dir` is a folder, `kubernetes.io/empty-dir` the plugin. */
function upstreamName(folder: string): string {
  return folder.replace('~', '/');
}
