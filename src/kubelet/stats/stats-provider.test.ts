import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { MemoryUsage } from '#os/memory/usage.ts';
import { ContainerStats, ImageFsInfoResponse } from '#wire/generated/cri.ts';
import type { CgroupUsage } from '../ports/usage.ts';
import { cgroupNames } from '../resources/cgroup-names.ts';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { createStatsProvider, type StatsProviderDeps } from './stats-provider.ts';

const { signal } = new AbortController();
const mebibyte = 2 ** 20;
const noPressure = { cpu: undefined, memory: undefined, io: undefined };

function aCgroup(change: { readonly memory?: Partial<CgroupUsage['memory']>; readonly cpuNanos?: number } = {}): CgroupUsage {
  const memory = { usageBytes: 10 * mebibyte, inactiveFileBytes: 4 * mebibyte, rssBytes: mebibyte, swapBytes: 0, ...change.memory };
  const cpu = { totalNanos: change.cpuNanos ?? 1000 };
  return { startedAtMs: 1, cpu, memory, processes: 3, threads: 4, threadsLimit: undefined, pressure: noPressure } as CgroupUsage; // what figures are made of
}

function aContainer(change: Partial<ContainerRecord> = {}): ContainerRecord {
  return { id: 'c1', name: 'main', phase: 'running', createdAtMs: 100, ...change } as ContainerRecord; // what figures are made of
}

function aWorld(pod: DeepPartial<Pod> = {}, change: Partial<StatsProviderDeps> = {}) {
  const usage = new MemoryUsage();
  const clock = new FakeClock();
  const state: PodRuntimeState = {
    uid: 'u',
    namespace: 'default',
    name: 'web',
    sandboxes: [{ id: 's1', attempt: 0, ready: true, createdAtMs: 50, hostNetwork: false, ips: undefined }],
    containers: [aContainer()],
  };
  const states = [state];
  const asked: string[] = [];
  const layer = (id: string, used: number) =>
    ContainerStats.create({ attributes: { id }, writableLayer: { usedBytes: { value: used }, inodesUsed: { value: 2 } } });
  const provider = createStatsProvider({
    usage,
    clock,
    logger: silentLogger,
    runtime: {
      listContainerStats: async () => {
        asked.push('stats');
        return [layer('c1', 5000), layer('old', 700)];
      },
      imageFsInfo: async () => {
        asked.push('images');
        return ImageFsInfoResponse.create({
          imageFilesystems: [{ fsId: { mountpoint: '/images' }, usedBytes: { value: 900 }, inodesUsed: { value: 9 } }],
        });
      },
    },
    cache: { all: () => states },
    podOf: () => aPod({ ...pod, metadata: { ...pod.metadata, uid: 'u' } }),
    roots: { root: '/kubelet', podLogs: '/logs', memory: '/memory' },
    podCgroups: cgroupNames('/pods', 'cgroupfs'),
    volumePeriodMs: 60_000,
    ...change,
  });
  usage.cgroups.set('/', aCgroup({ memory: { usageBytes: 1000 * mebibyte, inactiveFileBytes: 200 * mebibyte } }));
  usage.cgroups.set('/pods', aCgroup());
  usage.cgroups.set('/pods/besteffort/podu', aCgroup({ memory: { limitBytes: 16 * mebibyte } }));
  usage.cgroups.set('/pods/besteffort/podu/c1', aCgroup());
  usage.cgroups.set('/pods/besteffort/podu/s1', aCgroup());
  return { usage, clock, provider, states, state, asked };
}

test('the working set is usage without inactive file pages; available is the limit without the working set', async () => {
  const { provider } = aWorld();
  const node = await provider.node(signal);
  assert.deepEqual([node.memory.workingSetBytes, node.memory.availableBytes], [800 * mebibyte, 8192 * mebibyte - 800 * mebibyte]);
  const [pod] = await provider.pods(signal);
  assert.deepEqual([pod?.memory.workingSetBytes, pod?.memory.availableBytes], [6 * mebibyte, 10 * mebibyte]);
  assert.deepEqual([pod?.containers[0]?.memory.workingSetBytes, pod?.containers[0]?.memory.availableBytes], [6 * mebibyte, undefined]);
  assert.deepEqual([pod?.startedAtMs, pod?.processCount, pod?.containers[0]?.startedAtMs], [50, 3, 100]);
});

test('rates of CPU are over the time between two questions', async () => {
  const { provider, usage, clock } = aWorld();
  assert.equal((await provider.pods(signal))[0]?.containers[0]?.cpu.nanoCores, undefined);
  usage.cgroups.set('/pods/besteffort/podu/c1', aCgroup({ cpuNanos: 1000 + 5e9 }));
  await clock.advance(10_000);
  assert.equal((await provider.pods(signal))[0]?.containers[0]?.cpu.nanoCores, 5e8);
});

test('only running containers are told, and what the ended ones left counts as storage of the pod', async () => {
  const { provider, usage, state, states } = aWorld();
  states[0] = { ...state, containers: [aContainer(), aContainer({ id: 'old', name: 'first', phase: 'exited' })] };
  usage.directories.set('/logs/default_web_u/main', { bytes: 40, inodes: 2 });
  usage.directories.set('/logs/default_web_u/first', { bytes: 3, inodes: 1 });
  usage.directories.set('/kubelet/pods/u/etc-hosts', { bytes: 20, inodes: 1 });
  const [pod] = await provider.pods(signal);
  assert.deepEqual(
    pod?.containers.map(({ name, rootFs, logs }) => [name, rootFs.usedBytes, logs.usedBytes]),
    [['main', 5000, 40]],
  );
  assert.deepEqual([pod?.ephemeralStorage.usedBytes, pod?.ephemeralStorage.inodesUsed], [5000 + 700 + 40 + 3 + 20, 2 + 2 + 2 + 1 + 1]);
});

test('volumes on disk count as storage of the pod, those in memory and those of the host do not', async () => {
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'fast', emptyDir: { medium: 'Memory' } },
    { name: 'config', configMap: { name: 'c' } },
    { name: 'key', secret: { secretName: 's' } },
    { name: 'host', hostPath: { path: '/' } },
  ];
  const { provider, usage } = aWorld({ spec: { volumes } });
  const [disk, memory] = ['/kubelet/pods/u/volumes/kubernetes.io~', '/memory/u/kubernetes.io~'];
  usage.directories.set(`${disk}empty-dir/scratch`, { bytes: 100, inodes: 1 });
  usage.directories.set(`${disk}empty-dir/fast`, { bytes: 1000, inodes: 1 });
  usage.directories.set(`${disk}configmap/config`, { bytes: 7, inodes: 1 });
  usage.directories.set(`${memory}secret/key`, { bytes: 10_000, inodes: 1 });
  const [pod] = await provider.pods(signal);
  assert.deepEqual(
    pod?.volumes.map(({ name, usedBytes }) => [name, usedBytes]),
    [
      ['scratch', 100],
      ['fast', 1000],
      ['config', 7],
      ['key', 10_000],
    ],
  );
  assert.equal(pod?.ephemeralStorage.usedBytes, 5000 + 107);
});

test('volumes have no figures when their period is not positive', async () => {
  const { provider, usage } = aWorld({ spec: { volumes: [{ name: 'scratch', emptyDir: {} }] } }, { volumePeriodMs: 0 });
  usage.directories.set('/kubelet/pods/u/volumes/kubernetes.io~empty-dir/scratch', { bytes: 100, inodes: 1 });
  assert.deepEqual((await provider.pods(signal))[0]?.volumes, []);
});

test('the runtime is asked at most every ten seconds, volumes are walked once a period', async () => {
  const { provider, usage, clock, asked } = aWorld({ spec: { volumes: [{ name: 'scratch', emptyDir: {} }] } });
  const walks = () => usage.walked.filter((path) => path.includes('scratch')).length;
  for (const expected of [1, 1, 2]) {
    await Promise.all([provider.pods(signal), provider.node(signal), provider.pods(signal)]);
    assert.equal(asked.filter((what) => what === 'stats').length, expected);
    await clock.advance(6000);
  }
  assert.equal(walks(), 1);
  await clock.advance(60_000);
  await provider.pods(signal);
  assert.equal(walks(), 2);
});

test('file systems are told apart by their devices', async () => {
  const { provider, usage } = aWorld();
  const { imageFs, layout } = await provider.node(signal);
  assert.deepEqual([imageFs.usedBytes, imageFs.inodesUsed, imageFs.capacityBytes, layout], [900, 9, usage.room.capacityBytes, 'one']);
  usage.rooms.set('/images', { ...usage.room, device: 'other', capacityBytes: 5 });
  const apart = await provider.node(signal);
  assert.deepEqual([apart.imageFs.capacityBytes, apart.layout], [5, 'images-apart']);
});

test('a runtime that does not answer is told, and asked again the next time', async () => {
  let isUp = false;
  const imageFsInfo = async () => {
    if (!isUp) throw new Unavailable({ message: 'no runtime' });
    return ImageFsInfoResponse.create({});
  };
  const { provider } = aWorld({}, { runtime: { listContainerStats: async () => [], imageFsInfo } });
  await assert.rejects(provider.node(signal), Unavailable);
  isUp = true;
  assert.equal((await provider.node(signal)).layout, 'one');
});

test("a pod's network is that of its sandbox; one in the host's network has none of its own", async () => {
  const { provider, usage, state, states } = aWorld();
  const counts = { rxBytes: 1, rxPackets: 1, rxErrors: 0, rxDropped: 0, txBytes: 2, txPackets: 2, txErrors: 0, txDropped: 0 };
  usage.interfaces.set('/pods/besteffort/podu/s1', [{ name: 'eth0', ...counts }]);
  assert.deepEqual(
    (await provider.pods(signal))[0]?.network.interfaces.map(({ txBytes }) => txBytes),
    [2],
  );
  states[0] = { ...state, sandboxes: state.sandboxes.map((sandbox) => ({ ...sandbox, hostNetwork: true })) };
  assert.deepEqual((await provider.pods(signal))[0]?.network.interfaces, []);
});
