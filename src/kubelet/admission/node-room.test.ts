import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { aSandbox, observedOf } from '../runtime/testing/observed.ts';
import type { AdmittingNode } from './admission-input.ts';
import { NodeRoom, type NodeRoomDeps } from './node-room.ts';

const { signal } = new AbortController();
const node: AdmittingNode = {
  name: 'node-1',
  labels: {},
  allocatable: { cpu: '4', memory: '8Gi', pods: '2' },
  taints: [],
  pressures: [],
  hasSupplementalGroupsPolicy: false,
  hasAppArmor: false,
  kernelVersion: '6.1',
  isShuttingDown: false,
};
const podNamed = (name: string, nodeSelector: Record<string, string> = {}): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { nodeName: 'node-1', nodeSelector } });
const absent = observedOf([]);
const running = observedOf([aSandbox()]);
const nothingIsResized: NodeRoomDeps['resizes'] = {
  recall: async (pod) => pod,
  settle: async (pod) => pod,
  counted: (pod) => pod,
  roomChanged: () => undefined,
  forget: () => undefined,
};
const nobody = {
  isGone: () => false,
  resizes: nothingIsResized,
  refreshNode: async () => undefined,
  allowedSysctls: [],
  preempt: async () => undefined,
};
const roomOf = (labels: () => Record<string, string> = () => ({}), deps: Partial<NodeRoomDeps> = {}) =>
  new NodeRoom({ node: () => ({ ...node, labels: labels() }), ...nobody, ...deps });

test('who was let in holds its room until it is given back', async () => {
  const room = roomOf();
  const ask = async (name: string) => (await room.admit(podNamed(name), absent, signal)).admitted;
  assert.deepEqual([await ask('a'), await ask('b'), await ask('c'), await ask('a')], [true, true, false, true]);
  room.release('a');
  assert.deepEqual([await ask('c'), room.holds('a'), room.holds('c')], [true, false, true]);
});

test('a pod whose object is gone holds up nobody while it is taken down', async () => {
  const gone = new Set<string>();
  const room = roomOf(undefined, { isGone: (uid) => gone.has(uid) });
  const ask = async (name: string) => (await room.admit(podNamed(name), absent, signal)).admitted;
  assert.deepEqual([await ask('a'), await ask('b'), await ask('c')], [true, true, false]);
  gone.add('a');
  assert.deepEqual([await ask('c'), room.holds('a')], [true, true]);
});

test('subtle 8: after a restart all are asked again; who was created first has its room, and finished pods have none', async () => {
  const room = roomOf();
  const ask = async (name: string) => (await room.admit(podNamed(name), running, signal)).admitted;
  assert.deepEqual([await ask('first'), await ask('second'), await ask('third')], [true, true, false]);
  room.release('first'); // it finishes
  assert.equal(await ask('third'), true);
});

test('subtle 8: a pod that runs keeps its room, however long it takes to read what it has, and a younger one gets none', async () => {
  const recall = async (pod: Pod) => {
    await new Promise((resolve) => setImmediate(resolve));
    return pod;
  };
  const room = roomOf(undefined, { resizes: { ...nothingIsResized, recall } });
  const answers = await Promise.all([
    room.admit(podNamed('oldest'), running, signal),
    room.admit(podNamed('older'), running, signal),
    room.admit(podNamed('younger'), absent, signal),
  ]);
  assert.deepEqual(
    answers.map(({ admitted }) => admitted),
    [true, true, false],
  );
});

test('asked at the same moment, no two get the same room', async () => {
  const room = roomOf();
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => room.admit(podNamed(name), absent, signal)));
  assert.deepEqual(
    answers.map(({ admitted }) => admitted),
    [true, true, false, false],
  );
});

test('subtle 5: labels that may be stale are read once more before a pod is refused', async () => {
  let labels: Record<string, string> = {};
  const room = roomOf(() => labels, {
    refreshNode: async () => {
      labels = { disk: 'ssd' };
    },
  });
  assert.equal((await room.admit(podNamed('a', { disk: 'ssd' }), absent, signal)).admitted, true);
  const answer = await room.admit(podNamed('b', { disk: 'none' }), absent, signal);
  assert.deepEqual(answer.admitted === false && answer.reason, 'NodeAffinity');
});

test('a node that does not know itself refuses', async () => {
  const room = new NodeRoom({ ...nobody, node: () => undefined });
  assert.deepEqual(await room.admit(podNamed('a'), absent, signal), {
    admitted: false,
    reason: 'InvalidNodeInfo',
    message: 'Kubelet cannot get node info.',
  });
});

test('a critical pod is let in once others have left, and nobody takes what they leave', async () => {
  const put: string[] = [];
  let others: Promise<boolean> | undefined;
  const room: NodeRoom = roomOf(undefined, {
    preempt: async (victims) => {
      for (const { metadata } of victims) {
        put.push(metadata.uid);
        room.release(metadata.uid);
      }
      others = room.admit(podNamed('late'), absent, signal).then(({ admitted }) => admitted);
    },
  });
  for (const name of ['a', 'b']) await room.admit(podNamed(name), absent, signal);
  const critical = aPod({ metadata: { name: 'c', uid: 'c' }, spec: { nodeName: 'node-1', priority: 2_000_000_000 } });
  assert.deepEqual(await room.admit(critical, absent, signal), { admitted: true, pod: critical });
  assert.deepEqual([put.length, await others, room.holds('c')], [1, false, true]);
});

test('a critical pod for which nobody can make room is refused with what is missing', async () => {
  const critical = (name: string, cpu: string) =>
    aPod({ metadata: { name, uid: name }, spec: { priority: 2_000_000_000, containers: [aContainer({ resources: { requests: { cpu } } })] } });
  const room = roomOf();
  await room.admit(critical('a', '3'), absent, signal);
  assert.deepEqual(await room.admit(critical('b', '2'), absent, signal), {
    admitted: false,
    reason: 'UnexpectedAdmissionError',
    message:
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
  });
});

test('who gets no devices or CPUs has no room either, and that counts before the want of other room', async () => {
  const asked: string[] = [];
  const allocations = {
    allocate: async ({ metadata: { uid } }: Pod) => {
      asked.push(uid);
      return uid === 'a' ? ({ admitted: true } as const) : { admitted: false as const, reason: 'UnexpectedAdmissionError', message: 'no device' };
    },
    release: (uid: string) => void asked.push(`${uid} back`),
  };
  const room = roomOf(undefined, { allocations });
  assert.equal((await room.admit(podNamed('a'), absent, signal)).admitted, true);
  assert.deepEqual(await room.admit(podNamed('b'), absent, signal), { admitted: false, reason: 'UnexpectedAdmissionError', message: 'no device' });
  assert.deepEqual(await room.admit(podNamed('b', { no: 'such' }), absent, signal), {
    admitted: false,
    reason: 'UnexpectedAdmissionError',
    message: 'no device',
  });
  assert.notEqual((await room.admit(podNamed('a2', { no: 'such' }), absent, signal)).admitted, true);
  assert.deepEqual([asked, room.holds('b')], [['a', 'b', 'b', 'a2'], false]);
});
