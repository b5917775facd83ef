import { podRequests } from '#api/pod/requests.ts';
import type { Pod, Volume } from '#api/types/core-v1.ts';
import type { FilesystemLayout, PodUsage } from '../ports/stats.ts';
import { type Signal, signals } from './signals.ts';

/** Where a pod's files are. */
export type StoragePart = 'logs' | 'volumes' | 'rootfs';

/** Which of a pod's files lie on the file system that the signal is about. */
export function partsOn(signal: Signal, layout: FilesystemLayout): readonly StoragePart[] {
  const filesystem = signal.split('.')[0];
  switch (layout) {
    case 'one':
      return ['rootfs', 'logs', 'volumes'];
    case 'images-apart':
      return filesystem === 'nodefs' ? ['logs', 'volumes'] : ['rootfs'];
    case 'split':
      return filesystem === 'imagefs' ? [] : ['logs', 'volumes', 'rootfs'];
  }
}

/** What a pod uses of a resource, and what it asked for. */
export interface PodUse {
  readonly used: number;
  readonly requested: number;
}

/** @param usage of the pod; @returns undefined where it is not known */
export function podUse(pod: Pod, usage: PodUsage | undefined, signal: Signal, layout: FilesystemLayout): PodUse | undefined {
  if (usage === undefined) return undefined;
  const { resource } = signals[signal];
  switch (resource) {
    case 'memory': {
      const used = usage.memory.workingSetBytes;
      return used === undefined ? undefined : { used, requested: podRequests(pod).get('memory') ?? 0 };
    }
    case 'pids':
      return usage.processCount === undefined ? undefined : { used: usage.processCount, requested: 0 };
    default: {
      const used = storageUse(pod, usage, partsOn(signal, layout), resource === 'inodes' ? 'inodesUsed' : 'usedBytes');
      return { used, requested: podRequests(pod).get('ephemeral-storage') ?? 0 };
    }
  }
}

export function storageUse(pod: Pod, usage: PodUsage, parts: readonly StoragePart[], of: 'usedBytes' | 'inodesUsed'): number {
  const local = new Set((pod.spec?.volumes ?? []).filter(isOnLocalDisk).map(({ name }) => name));
  const amounts = [
    ...usage.containers.map(({ rootFs }) => (parts.includes('rootfs') ? rootFs[of] : 0)),
    ...usage.containers.map(({ logs }) => (parts.includes('logs') ? logs[of] : 0)),
    ...usage.volumes.map((volume) => (parts.includes('volumes') && local.has(volume.name) ? volume[of] : 0)),
  ];
  return amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);
}

function isOnLocalDisk({ hostPath, emptyDir, configMap, gitRepo }: Volume): boolean {
  return hostPath !== undefined || configMap !== undefined || gitRepo !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? '') === '');
}
