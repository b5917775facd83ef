import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { EvictionManager } from './eviction-manager.ts';
import { createNodeStrain } from './node-strain.ts';
import { aContainerUse, aFilesystem, aMemory, aNodeUse, aPodUse, aVolumeUse, gi, MemoryStats, mi } from './testing/memory-stats.ts';
import { parseThresholds } from './thresholds.ts';

const { signal } = new AbortController();
const podOf = (name: string, more: Partial<Pod['spec']> = {}, resources = {}): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { containers: [aContainer({ name: 'main', resources })], ...more } });

function rig(configuration: Readonly<Record<string, unknown>> = {}) {
  const clock = new FakeClock();
  const stats = new MemoryStats();
  const { pressures } = createNodeStrain();
  const pods: Pod[] = [];
  const log: string[] = [];
  const hooks: { afterImages: () => void } = { afterImages: () => undefined };
  const parsed = parseKubeletConfiguration(configuration, 'test');
  const manager = new EvictionManager({
    settings: {
      thresholds: parseThresholds(parsed),
      transitionMs: parsed.evictionPressureTransitionPeriod,
      maxPodGraceSeconds: parsed.evictionMaxPodGracePeriod,
      limitsLocalStorage: parsed.localStorageCapacityIsolation,
      everyMs: 10_000,
    },
    pressures,
    stats,
    pods: () => [...pods],
    putOut: async (pod, refusal, graceSeconds) => {
      log.push(`${pod.metadata.name} ${graceSeconds} ${refusal.putOut?.isDisruption} ${refusal.reason}: ${refusal.message}`);
      pods.splice(pods.indexOf(pod), 1);
    },
    untilStopped: async () => undefined,
    removeDeadContainers: async () => void log.push('containers'),
    removeUnusedImages: async () => {
      log.push('images');
      hooks.afterImages();
    },
    tellNode: (reason, message) => log.push(`node ${reason} ${message}`),
    tellPod: (_pod, { annotations }) => log.push(JSON.stringify(annotations)),
    count: (name) => log.push(`counted ${name}`),
    clock,
    logger: silentLogger,
  });
  return { clock, stats, pods, log, manager, hooks, pressures };
}

const shortOfMemory = (now: number) => aNodeUse({ memory: aMemory({ atMs: now, availableBytes: 52 * mi, workingSetBytes: 15 * gi }) }, now);

test('memory runs out: the worst pod goes, one a look, with upstream’s words', async () => {
  const { stats, pods, log, manager, pressures } = rig();
  pods.push(podOf('quiet', {}, { requests: { memory: '1Gi' } }), podOf('greedy', {}, { requests: { memory: '100Mi' } }), podOf('greedy-too'));
  stats.podUsages = [
    aPodUse('quiet', { containers: [aContainerUse('main', 500 * mi)] }),
    aPodUse('greedy', { containers: [aContainerUse('main', 500 * mi)] }),
    aPodUse('greedy-too', { containers: [aContainerUse('main', 300 * mi)] }),
  ];
  stats.nodeUsage = shortOfMemory(1);
  const evicted = await manager.look(signal);
  assert.deepEqual(
    evicted.map(({ metadata }) => metadata.name),
    ['greedy'],
  );
  assert.deepEqual(log, [
    'node EvictionThresholdMet Attempting to reclaim memory',
    '{"offending_containers":"main","offending_containers_usage":"500Mi","starved_resource":"memory"}',
    'counted memory.available',
    'greedy 1 true Evicted: The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. ' +
      'Container main was using 500Mi, request is 100Mi, has larger consumption of memory. ',
  ]);
  assert.deepEqual(pressures.get(), ['MemoryPressure']);
});

test('a pod that asks for memory as a whole is told as a whole', async () => {
  const { stats, pods, log, manager } = rig();
  pods.push(podOf('p', { resources: { requests: { memory: '100Mi' } } }));
  stats.podUsages = [aPodUse('p', { containers: [aContainerUse('main', 500 * mi)] })];
  stats.nodeUsage = shortOfMemory(1);
  await manager.look(signal);
  assert.match(
    log.at(-1) ?? '',
    /52Mi\. Pod p was using 500Mi, request is 100Mi, has larger consumption of memory\. Container main was using 500Mi, request is 0, has/,
  );
  assert.match(log[1] ?? '', /"offending_pod":"p","offending_pod_usage":"500Mi"/);
});

test('critical pods stay, whatever they use', async () => {
  const { stats, pods, log, manager } = rig();
  pods.push(podOf('system', { priority: 2_000_001_000 }));
  stats.nodeUsage = shortOfMemory(1);
  assert.deepEqual(await manager.look(signal), []);
  assert.deepEqual(log, ['node EvictionThresholdMet Attempting to reclaim memory']);
});

test('the memory of all pods together has the same threshold', async () => {
  const { stats, pods, log, manager } = rig();
  pods.push(podOf('p'));
  stats.nodeUsage = aNodeUse({ podsMemory: aMemory({ atMs: 1, availableBytes: 10 * mi, workingSetBytes: 14 * gi }) }, 1);
  await manager.look(signal);
  assert.match(log.at(-1) ?? '', /^p 1 true Evicted: The node was low on resource: memory\. Threshold quantity: 100Mi, available: 10Mi\. /);
});

const fullDisk = (now: number) => aFilesystem({ atMs: now, capacityBytes: 100 * gi, availableBytes: 5 * gi, inodes: 1000, inodesFree: 900 });

test('a full disk: dead containers and unused images go first, and when that is enough no pod', async () => {
  const { stats, pods, log, manager, hooks, pressures } = rig();
  pods.push(podOf('p'));
  stats.nodeUsage = { ...aNodeUse({}, 1), nodeFs: fullDisk(1) };
  hooks.afterImages = () => {
    stats.nodeUsage = aNodeUse({}, 2);
  };
  assert.deepEqual(await manager.look(signal), []);
  assert.deepEqual(log, ['node EvictionThresholdMet Attempting to reclaim ephemeral-storage', 'containers', 'images']);
  assert.deepEqual(pressures.get(), ['DiskPressure']);
});

test('a full disk that nothing else helps: the pod that has most on it', async () => {
  const { stats, pods, log, manager } = rig();
  pods.push(podOf('small'), podOf('big'));
  stats.podUsages = [
    aPodUse('small', { containers: [aContainerUse('main', 0, mi, mi)] }),
    aPodUse('big', { containers: [aContainerUse('main', 0, 300 * mi, 12 * mi)] }),
  ];
  stats.nodeUsage = { ...aNodeUse({}, 1), nodeFs: fullDisk(1) };
  await manager.look(signal);
  assert.equal(
    log.at(-1),
    'big 1 true Evicted: The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 5Gi. ' +
      'Container main was using 312Mi, request is 0, has larger consumption of ephemeral-storage. ',
  );
});

test('a soft threshold gives the pod its own grace, at most the node’s', async () => {
  const soft = {
    evictionHard: {},
    evictionSoft: { 'pid.available': '850' },
    evictionSoftGracePeriod: { 'pid.available': '0s' },
    evictionMaxPodGracePeriod: 20,
  };
  const { stats, pods, log, manager } = rig(soft);
  pods.push(podOf('slow', { terminationGracePeriodSeconds: 60, priority: -1 }), podOf('fast', { terminationGracePeriodSeconds: 5 }));
  stats.nodeUsage = aNodeUse({}, 1);
  await manager.look(signal);
  stats.nodeUsage = aNodeUse({}, 2);
  await manager.look(signal);
  const message = 'Evicted: The node was low on resource: pids. Threshold quantity: 850, available: 800. ';
  assert.deepEqual(
    log.filter((line) => line.includes('Evicted')),
    [`slow 20 true ${message}`, `fast 5 true ${message}`],
  );
});

test('subtle 63: every pod over the limits of its own storage goes, without a shortage of the node', async () => {
  const { stats, pods, log, manager } = rig({ evictionHard: {} });
  const volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }];
  const limits = { limits: { 'ephemeral-storage': '1Gi' } };
  const two = [aContainer({ name: 'main', resources: limits }), aContainer({ name: 'other', resources: limits })];
  pods.push(podOf('volume', { volumes }), podOf('whole', { containers: two }), podOf('container', { containers: two }), podOf('good', { volumes }));
  stats.podUsages = [
    aPodUse('volume', { volumes: [aVolumeUse('v', gi + 1)] }),
    aPodUse('whole', { containers: [aContainerUse('main', 0, gi), aContainerUse('other', 0, gi, 1)] }),
    aPodUse('container', { containers: [aContainerUse('main', 0, gi - 5, 6)] }),
    aPodUse('good', { volumes: [aVolumeUse('v', gi)] }),
  ];
  await manager.look(signal);
  assert.deepEqual(
    log.filter((line) => !line.startsWith('{')),
    [
      'counted emptydirfs.limit',
      'volume 1 false Evicted: Usage of EmptyDir volume "v" exceeds the limit "1Gi". ',
      'counted ephemeralpodfs.limit',
      'whole 1 false Evicted: Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
      'counted ephemeralcontainerfs.limit',
      'container 1 false Evicted: Container main exceeded its local ephemeral storage limit "1Gi". ',
    ],
  );
});

test('it looks every ten seconds, and at once when somebody went', async () => {
  const { clock, stats, pods, log, manager } = rig();
  const abort = new AbortController();
  pods.push(podOf('a'), podOf('b'));
  stats.nodeUsage = aNodeUse({}, 1);
  const running = manager.run(abort.signal);
  const settle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  };
  await settle();
  let reading = 10;
  stats.node = async () => shortOfMemory(reading++);
  await clock.advance(9_999);
  await settle();
  assert.deepEqual([log, pods.length], [[], 2]);
  await clock.advance(1);
  await settle();
  assert.equal(pods.length, 0);
  abort.abort();
  await running;
});
