import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Container } from '#api/types/core-v1.ts';
import { Allocations } from './allocations.ts';
import type { AllocationProvider, TopologyHint } from './provider.ts';

const { signal } = new AbortController();
const container = (name: string): Container => ({ name, image: 'a' });
const pod = aPod({ spec: { initContainers: [container('first')], containers: [container('main')] } });

function provider(name: string, log: string[], refuses?: string): AllocationProvider {
  return {
    hints: (_pod, { name: of }) => {
      if (of === '') log.push(`${name} is asked for the pod`);
      return new Map([[name, [{ nodes: 1, preferred: true }]]]);
    },
    async allocate(_pod, { name: of }, hint) {
      log.push(`${name} ${of} ${hint?.nodes}`);
      return of === refuses ? { reason: 'UnexpectedAdmissionError', message: `${name} has none left` } : undefined;
    },
    prepare: async () => ({ envs: { [name]: '1' }, cdiDevices: [name] }),
    holds: () => log.some((line) => line.startsWith(`${name} main`)),
    release: (uid) => void log.push(`${name} back from ${uid}`),
    resources: () => ({ [name]: { capacity: 2, allocatable: 1 } }),
  };
}

const anywhere = (): TopologyHint => ({ nodes: 3, preferred: false });

test('containers get their shares in order, init containers first, from every provider', async () => {
  const log: string[] = [];
  const all = new Allocations([provider('a', log), provider('b', log)], anywhere);
  assert.deepEqual(await all.allocate(pod, signal), { admitted: true });
  assert.deepEqual(log, ['a first 3', 'b first 3', 'a main 3', 'b main 3']);
  assert.deepEqual(all.resources(), { a: { capacity: 2, allocatable: 1 }, b: { capacity: 2, allocatable: 1 } });
  const given = await all.prepare(pod, container('main'), signal);
  assert.deepEqual([given?.envs, given?.cdiDevices], [{ a: '1', b: '1' }, ['a', 'b']]);
});

test('a pod that one provider or the alignment refuses holds nothing', async () => {
  const log: string[] = [];
  const short = new Allocations([provider('a', log), provider('b', log, 'main')], anywhere);
  assert.deepEqual(await short.allocate(pod, signal), { admitted: false, reason: 'UnexpectedAdmissionError', message: 'b has none left' });
  assert.deepEqual(log.slice(-2), [`a back from ${pod.metadata.uid}`, `b back from ${pod.metadata.uid}`]);
  const apart = new Allocations([provider('a', [])], () => ({ reason: 'TopologyAffinityError', message: 'apart' }));
  assert.deepEqual(await apart.allocate(pod, signal), { admitted: false, reason: 'TopologyAffinityError', message: 'apart' });
});

test('with scope pod all containers are placed by one answer, and a pod that has its share is not placed again', async () => {
  const log: string[] = [];
  const all = new Allocations([provider('a', log)], (hints) => ({ nodes: hints().length, preferred: true }), 'pod');
  assert.deepEqual(await all.allocate(pod, signal), { admitted: true });
  assert.deepEqual(log, ['a is asked for the pod', 'a first 1', 'a main 1']);
  await all.allocate(pod, signal);
  assert.deepEqual(log.slice(3), ['a first undefined', 'a main undefined']);
});
