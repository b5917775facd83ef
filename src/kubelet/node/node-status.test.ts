import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeCondition } from '#api/types/core-v1.ts';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { HostFacts } from '../ports/host.ts';
import { nodeBudget, nothingReserved } from '../resources/node-budget.ts';
import { conditionEvents, nodeConditions, noPressure } from './node-conditions.ts';
import { labelsToRestore, nodeLabels, refuseForeignLabels } from './node-labels.ts';
import { isSameStatus, statusPatch } from './node-patch.ts';
import { nodeAllocatable, nodeCapacity } from './node-resources.ts';
import { nodeImages } from './node-status.ts';

const Mi = 1024 * 1024;
const now = '2030-01-01T00:00:00Z';
const earlier = '2029-01-01T00:00:00Z';

const host: HostFacts = {
  hostname: 'h',
  cpus: 2,
  memoryBytes: 4096 * Mi + 4096,
  swapBytes: 0,
  hugepages: [
    { sizeBytes: 2 * Mi, pages: 16 },
    { sizeBytes: 1024 * Mi, pages: 0 },
  ],
  architecture: 'amd64',
  kernelVersion: '6.1',
  osImage: 'Linux',
  machineId: 'm',
  systemUuid: 's',
  bootId: 'b',
  maxProcesses: 32_768,
  hasAppArmor: false,
  addresses: [],
  defaultRouteInterface: undefined,
};

test('capacity is what the host has, each huge page size included', () => {
  assert.deepEqual(nodeCapacity(host, { capacityBytes: 10 * 1024 * Mi + 4096 }, 110), {
    cpu: '2',
    memory: '4194308Ki',
    'ephemeral-storage': '10485764Ki',
    pods: '110',
    'hugepages-2Mi': '32Mi',
    'hugepages-1Gi': '0',
  });
});

const { thresholds: defaultThresholds } = nodeBudget(parseKubeletConfiguration({}, 'test'), 2);

test('allocatable leaves out reservations, the eviction thresholds and, of memory, the huge pages', () => {
  const reserved = { ...nothingReserved, cpuMilli: 250, memoryBytes: 200 * Mi, ephemeralStorageBytes: 1000 };
  assert.deepEqual(nodeAllocatable(host, { capacityBytes: 100_000 }, 110, reserved, defaultThresholds), {
    cpu: '1750m',
    memory: `${(4096 - 200 - 100 - 32) * 1024 + 4}Ki`,
    'ephemeral-storage': '89000',
    pods: '110',
    'hugepages-2Mi': '32Mi',
    'hugepages-1Gi': '0',
  });
});

test('what is reserved beyond what there is leaves nothing, not less', () => {
  const reserved = { ...nothingReserved, cpuMilli: 5_000, memoryBytes: 1e15, ephemeralStorageBytes: 1e15 };
  const { cpu, memory, 'ephemeral-storage': storage } = nodeAllocatable(host, { capacityBytes: 1000 }, 1, reserved, defaultThresholds);
  assert.deepEqual([cpu, memory, storage], ['0', '0', '0']);
});

test('a healthy node says so in upstream words', () => {
  const conditions = nodeConditions({ problems: ['', ''], ...noPressure }, [], now);
  const words = (type: string, status: string, reason: string, message: string): NodeCondition => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  assert.deepEqual(conditions, [
    words('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    words('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    words('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    words('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ]);
});

test('every problem is told, and pressure has its own words', () => {
  const conditions = nodeConditions({ problems: ['runtime', '', 'network'], ...noPressure, diskPressure: true }, [], now);
  const said = conditions.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  assert.equal(said[1], 'DiskPressure KubeletHasDiskPressure kubelet has disk pressure');
  assert.equal(said[3], 'Ready KubeletNotReady [runtime, network]');
});

test('the time of a change stays while the status does, and conditions of others stay', () => {
  const before: NodeCondition[] = [
    { type: 'Ready', status: 'Unknown', lastTransitionTime: earlier },
    { type: 'DiskPressure', status: 'False', lastTransitionTime: earlier },
    { type: 'NetworkUnavailable', status: 'False', lastTransitionTime: earlier },
  ];
  const conditions = nodeConditions({ problems: [], ...noPressure }, before, now);
  const changedAt = Object.fromEntries(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
  assert.deepEqual(changedAt, { NetworkUnavailable: earlier, MemoryPressure: now, DiskPressure: earlier, PIDPressure: now, Ready: now });
});

test('events tell of changes, of a first Ready not', () => {
  const health = { problems: [], ...noPressure };
  const reasons = (before: readonly NodeCondition[]) => conditionEvents(health, before, 'n').map(({ reason }) => reason);
  assert.deepEqual(reasons([]), ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
  assert.deepEqual(reasons(nodeConditions(health, [], now)), []);
  const notReady = nodeConditions({ problems: ['x'], ...noPressure }, [], now);
  assert.deepEqual(conditionEvents(health, notReady, 'n'), [{ reason: 'NodeReady', message: 'Node n status is now: NodeReady' }]);
});

test('a status is the same when heartbeats alone differ', () => {
  const at = (time: string, reason: string) => ({
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time, reason }],
    phase: undefined,
  });
  assert.equal(isSameStatus(at(now, 'a'), at(earlier, 'a')), true);
  assert.equal(isSameStatus(at(now, 'a'), at(now, 'b')), false);
});

test('a patch has what changed, addresses as a whole, and the conditions', () => {
  const addresses = [{ type: 'InternalIP', address: '10.0.0.2' }];
  const before = { capacity: { cpu: '2' }, addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], conditions: [] };
  assert.deepEqual(statusPatch(before, { ...before, addresses }), { status: { addresses: [{ $patch: 'replace' }, ...addresses], conditions: [] } });
});

test('images: the biggest first, digests before tags, nameless ones left out', () => {
  const image = (id: string, size: number, repoTags: string[], repoDigests: string[] = []) => ({
    id,
    size,
    repoTags,
    repoDigests,
    uid: undefined,
    username: '',
    spec: undefined,
    pinned: false,
  });
  const images = [
    image('a', 1, ['a:1']),
    image('b', 3, ['b:1', 'b:2', 'b:3', 'b:4', 'b:5'], ['b@sha256:0']),
    image('c', 2, ['c:1']),
    image('d', 9, []),
  ];
  assert.deepEqual(nodeImages(images, 2), [
    { names: ['b@sha256:0', 'b:1', 'b:2', 'b:3', 'b:4'], sizeBytes: 3 },
    { names: ['c:1'], sizeBytes: 2 },
  ]);
});

test('own labels come over the usual ones, and of an existing node only ours are restored', () => {
  const wanted = nodeLabels(
    { hostname: 'h', architecture: 'arm64' },
    { 'kubernetes.io/hostname': 'other', 'topology.kubernetes.io/zone': 'z', a: 'b' },
  );
  assert.equal(wanted['kubernetes.io/hostname'], 'other');
  const present = { ...wanted, 'topology.kubernetes.io/zone': 'y', a: 'c', mine: 'x', 'kubernetes.io/os': '' };
  assert.deepEqual(labelsToRestore(wanted, present), { 'kubernetes.io/os': 'linux', 'topology.kubernetes.io/zone': 'z' });
  assert.deepEqual(labelsToRestore({ 'topology.kubernetes.io/zone': '' }, present), { 'topology.kubernetes.io/zone': null });
});

test('of the names of Kubernetes a kubelet may give its node those that a kubelet knows', () => {
  refuseForeignLabels({
    ...{ zone: 'a', 'example.com/role': 'x', 'notkubernetes.io/x': '', 'topology.kubernetes.io/zone': 'z' },
    ...{ 'node.kubernetes.io/x': '', 'kubelet.kubernetes.io/y': '', 'sub.node.kubernetes.io/z': '' },
  });
  assert.throws(() => refuseForeignLabels({ 'node-role.kubernetes.io/worker': '', 'x.k8s.io/a': '', b: '' }), {
    code: 'INVALID_INPUT',
    message: "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [node-role.kubernetes.io/worker x.k8s.io/a]",
  });
});
