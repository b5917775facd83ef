import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { AdmittingNode } from '../admission/admission-input.ts';
import { NodeRoom } from './node-room.ts';

const { signal } = new AbortController();
const node: AdmittingNode = {
  name: 'node-1',
  labels: {},
  allocatable: { cpu: '4', memory: '8Gi', pods: '2' },
  taints: [],
  pressures: [],
  hasSupplementalGroupsPolicy: false,
  isShuttingDown: false,
};
const podNamed = (name: string, nodeSelector: Record<string, string> = {}): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { nodeName: 'node-1', nodeSelector } });
const roomOf = (labels: () => Record<string, string> = () => ({}), refreshNode = async () => {}) =>
  new NodeRoom({ node: () => ({ ...node, labels: labels() }), refreshNode, allowedSysctls: [] });

test('who was let in holds its room until it is given back', async () => {
  const room = roomOf();
  const ask = async (name: string) => (await room.admit(podNamed(name), false, signal)).admitted;
  assert.deepEqual([await ask('a'), await ask('b'), await ask('c'), await ask('a')], [true, true, false, true]);
  room.release('a');
  assert.deepEqual([await ask('c'), room.holds('a'), room.holds('c')], [true, false, true]);
});

test('what already runs is let in even when there is no room', async () => {
  const room = roomOf();
  for (const name of ['a', 'b']) await room.admit(podNamed(name), false, signal);
  assert.equal((await room.admit(podNamed('c'), true, signal)).admitted, true);
});

test('asked at the same moment, no two get the same room', async () => {
  const room = roomOf();
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => room.admit(podNamed(name), false, signal)));
  assert.deepEqual(
    answers.map(({ admitted }) => admitted),
    [true, true, false, false],
  );
});

test('labels that may be stale are read once more before a pod is refused', async () => {
  let labels: Record<string, string> = {};
  const room = roomOf(
    () => labels,
    async () => {
      labels = { disk: 'ssd' };
    },
  );
  assert.equal((await room.admit(podNamed('a', { disk: 'ssd' }), false, signal)).admitted, true);
  const answer = await room.admit(podNamed('b', { disk: 'none' }), false, signal);
  assert.deepEqual(answer.admitted === false && answer.reason, 'NodeAffinity');
});

test('a node that does not know itself refuses', async () => {
  const room = new NodeRoom({ node: () => undefined, refreshNode: async () => undefined, allowedSysctls: [] });
  assert.equal((await room.admit(podNamed('a'), false, signal)).admitted, false);
});
