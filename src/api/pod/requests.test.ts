import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { aggregateRequests, podLimits, podRequests } from './requests.ts';

const asking = (cpu: string, memory?: string) => ({ resources: { requests: memory === undefined ? { cpu } : { cpu, memory } } });
const requests = (spec: NonNullable<Parameters<typeof aPod>[0]>['spec']) => Object.fromEntries(podRequests(aPod({ spec })));

test('containers run together: their requests add up', () => {
  const containers = [aContainer(asking('250m', '64Mi')), aContainer({ name: 'b', ...asking('1') })];
  assert.deepEqual(requests({ containers }), { cpu: 1250, memory: 67_108_864 });
});

test('CPU counts in thousandths rounded up, other resources in whole pieces', () => {
  const containers = [aContainer(asking('0.1', '1Ki')), aContainer({ resources: { requests: { cpu: '0.0001', 'example.com/gpu': '2' } } })];
  assert.deepEqual(requests({ containers }), { cpu: 101, memory: 1024, 'example.com/gpu': 2 });
});

test('what only an init container asks for counts too', () => {
  const initContainers = [aContainer({ name: 'i', ...asking('3') }), aContainer({ name: 'j', ...asking('2', '5') })];
  assert.deepEqual(requests({ containers: [aContainer(asking('1'))], initContainers }), { cpu: 3000, memory: 5 });
});

test('an init container counts with every sidecar that was started before it', () => {
  const sidecar = (name: string, cpu: string) => aContainer({ name, restartPolicy: 'Always', ...asking(cpu) });
  const heavy = (name: string) => aContainer({ name, ...asking('5') });
  const initContainers = [heavy('i'), sidecar('s', '1'), heavy('j'), sidecar('t', '2')];
  assert.deepEqual(requests({ containers: [aContainer(asking('1'))], initContainers }), { cpu: 6000 });
  assert.deepEqual(requests({ containers: [aContainer(asking('4'))], initContainers }), { cpu: 7000 });
});

test('the aggregate is what the containers ask for, without overhead and the word of the pod', () => {
  const spec = { containers: [aContainer(asking('1'))], resources: { requests: { cpu: '3' } }, overhead: { cpu: '1' } };
  assert.deepEqual(Object.fromEntries(aggregateRequests(spec)), { cpu: 1000 });
});

test('ordinary init containers run alone: the largest counts if it is larger than the rest', () => {
  const containers = [aContainer(asking('1', '1Mi'))];
  const initContainers = [aContainer({ name: 'i', ...asking('3') }), aContainer({ name: 'j', ...asking('2') })];
  assert.deepEqual(requests({ containers, initContainers }), { cpu: 3000, memory: 1_048_576 });
});

test('a sidecar counts beside the containers and beside init containers after it', () => {
  const sidecar = aContainer({ name: 's', restartPolicy: 'Always', ...asking('500m') });
  const heavy = aContainer({ name: 'i', ...asking('2') });
  const containers = [aContainer(asking('1'))];
  assert.deepEqual(requests({ containers, initContainers: [sidecar, heavy] }), { cpu: 2500 });
  assert.deepEqual(requests({ containers, initContainers: [heavy, sidecar] }), { cpu: 2000 });
  assert.deepEqual(requests({ containers, initContainers: [sidecar] }), { cpu: 1500 });
});

test('pod-level requests replace the aggregate of what they name, and overhead comes on top', () => {
  const spec = {
    containers: [aContainer(asking('1', '10'))],
    resources: { requests: { cpu: '3', 'example.com/gpu': '9' } },
    overhead: { cpu: '250m', memory: '5' },
  };
  assert.deepEqual(requests(spec), { cpu: 3250, memory: 15 });
});

test('overhead is added only to limits that exist', () => {
  const spec = { containers: [aContainer({ resources: { limits: { cpu: '1' } } })], overhead: { cpu: '250m', memory: '5' } };
  assert.deepEqual(Object.fromEntries(podLimits(aPod({ spec }))), { cpu: 1250 });
});
