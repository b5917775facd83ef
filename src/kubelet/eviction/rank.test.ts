import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod, Volume } from '#api/types/core-v1.ts';
import type { FilesystemLayout, PodUsage } from '../ports/stats.ts';
import { rank } from './rank.ts';
import type { Signal } from './signals.ts';
import { aContainerUse, aPodUse, aVolumeUse, mi } from './testing/memory-stats.ts';

const podOf = (name: string, request: Readonly<Record<string, string>> = {}, priority = 0, volumes: readonly Volume[] = []): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { priority, volumes, containers: [aContainer({ resources: { requests: request } })] } });

function order(pods: readonly Pod[], usages: readonly PodUsage[], signal: Signal, layout: FilesystemLayout = 'one'): string {
  return rank(pods, new Map(usages.map((usage) => [usage.uid, usage])), signal, layout)
    .map(({ metadata }) => metadata.name)
    .join(' ');
}

test('for memory: nothing known, then over its request, then less important, then further over', () => {
  const memory = (uid: string, amount: number) => aPodUse(uid, { containers: [aContainerUse('main', amount * mi)] });
  const pods = [
    podOf('within', { memory: '100Mi' }),
    podOf('over-a-little'),
    podOf('over-a-lot'),
    podOf('important', {}, 1000),
    podOf('within-but-worthless', { memory: '100Mi' }, -5),
    podOf('unknown'),
  ];
  const usages = [
    memory('within', 90),
    memory('over-a-little', 10),
    memory('over-a-lot', 50),
    memory('important', 500),
    memory('within-but-worthless', 1),
  ];
  assert.equal(order(pods, usages, 'memory.available'), 'unknown over-a-lot over-a-little important within-but-worthless within');
});

test('for process ids: less important first, then more of them', () => {
  const usages = [aPodUse('few', { processCount: 2 }), aPodUse('many', { processCount: 90 }), aPodUse('important', { processCount: 900 })];
  assert.equal(order([podOf('few'), podOf('important', {}, 10), podOf('many')], usages, 'pid.available'), 'many few important');
});

test('for a disk: what lies on it counts, which depends on how the file systems are laid out', () => {
  const emptyDir: Volume = { name: 'data', emptyDir: {} };
  const pods = [podOf('writer'), podOf('logger'), podOf('keeper', {}, 0, [emptyDir])];
  const usages = [
    aPodUse('writer', { containers: [aContainerUse('main', 0, 300, 1)] }),
    aPodUse('logger', { containers: [aContainerUse('main', 0, 1, 200)] }),
    aPodUse('keeper', { containers: [aContainerUse('main', 0, 2, 2)], volumes: [aVolumeUse('data', 100)] }),
  ];
  assert.equal(order(pods, usages, 'nodefs.available', 'one'), 'writer logger keeper');
  assert.equal(order(pods, usages, 'nodefs.available', 'images-apart'), 'logger keeper writer');
  assert.equal(order(pods, usages, 'imagefs.available', 'images-apart'), 'writer keeper logger');
  assert.equal(order(pods, usages, 'nodefs.available', 'split'), 'writer logger keeper');
});

test('a volume in memory or of a claim is not on the disk', () => {
  const volumes: readonly Volume[] = [
    { name: 'tmpfs', emptyDir: { medium: 'Memory' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
  ];
  const usages = [
    aPodUse('a', { containers: [aContainerUse('main', 0, 0, 1)], volumes: [aVolumeUse('tmpfs', 500), aVolumeUse('claim', 500)] }),
    aPodUse('b', { containers: [aContainerUse('main', 0, 0, 10)] }),
  ];
  assert.equal(order([podOf('a', {}, 0, volumes), podOf('b')], usages, 'nodefs.available'), 'b a');
});
