import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Container, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';
import { isLimited, podLimits, podRequests } from './pod-resources.ts';
import { computeQosClass } from './qos.ts';

function asks(requests: Readonly<Record<string, string>>, limits: Readonly<Record<string, string>> = {}): Container {
  return aContainer({ resources: { requests, limits } });
}

function sidecar(requests: Readonly<Record<string, string>>, limits: Readonly<Record<string, string>> = {}): Container {
  return { ...asks(requests, limits), restartPolicy: 'Always' };
}

function specOf(containers: readonly Container[], initContainers: readonly Container[] = [], rest: Partial<PodSpec> = {}): PodSpec {
  return { ...aPod().spec, containers, initContainers, ...rest };
}

test('containers add up, a missing name is nothing, CPU counts in thousandths rounded up', () => {
  const spec = specOf([asks({ cpu: '0.1', memory: '1Ki' }), asks({ cpu: '1500m', 'example.com/gpu': '2' }), asks({ cpu: '0.0001' })]);
  assert.deepEqual(podRequests(spec), { cpu: 1601, memory: 1024, 'example.com/gpu': 2 });
});

test('the largest init container counts when it is larger than all that runs later', () => {
  assert.deepEqual(podRequests(specOf([asks({ cpu: '1' })], [asks({ cpu: '3' }), asks({ cpu: '2', memory: '5' })])), { cpu: 3000, memory: 5 });
});

test('a sidecar counts beside the containers and beside the init containers after it', () => {
  const sidecars = [asks({ cpu: '5' }), sidecar({ cpu: '1' }), asks({ cpu: '5' }), sidecar({ cpu: '2' })];
  assert.deepEqual(podRequests(specOf([asks({ cpu: '1' })], sidecars)), { cpu: 6000 });
  assert.deepEqual(podRequests(specOf([asks({ cpu: '4' })], sidecars)), { cpu: 7000 });
});

test('what the pod asks for as a whole replaces the sum; overhead comes on top, on limits only where there is one', () => {
  const spec = specOf([asks({ cpu: '1', memory: '100', 'x/y': '1' }, { cpu: '2' })], [], {
    resources: { requests: { memory: '300', 'x/y': '9' } },
    overhead: { cpu: '250m', memory: '7' },
  });
  assert.deepEqual(podRequests(spec), { cpu: 1250, memory: 307, 'x/y': 1 });
  assert.deepEqual(podLimits(spec), { cpu: 2250 });
});

test('a pod is limited when each container is, with the sidecars beside an init container, or when the pod itself is', () => {
  const limited = asks({}, { cpu: '1' });
  const free = asks({});
  const table: readonly (readonly [PodSpec, boolean])[] = [
    [specOf([limited]), true],
    [specOf([limited, free]), false],
    [specOf([limited, asks({}, { cpu: '0' })]), false],
    [specOf([limited], [free]), false],
    [specOf([limited], [sidecar({}, { cpu: '1' }), free]), true],
    [specOf([free], [], { resources: { limits: { cpu: '1' } } }), true],
  ];
  for (const [spec, expected] of table) assert.equal(isLimited(spec, 'cpu'), expected, JSON.stringify(spec));
  assert.equal(isLimited(specOf([limited]), 'memory'), false);
});

test('the QoS class follows requests and limits of CPU and memory', () => {
  const both = { cpu: '1', memory: '1Gi' };
  const table: readonly (readonly [string, PodSpec, string])[] = [
    ['nothing', specOf([asks({})]), 'BestEffort'],
    ['zero is nothing', specOf([asks({ cpu: '0' }, { memory: '0' })]), 'BestEffort'],
    ['another resource is nothing', specOf([asks({ 'example.com/gpu': '1' })]), 'BestEffort'],
    ['requests equal limits', specOf([asks(both, { cpu: '1000m', memory: '1024Mi' })]), 'Guaranteed'],
    ['no memory limit', specOf([asks(both, { cpu: '1' })]), 'Burstable'],
    ['limits above requests', specOf([asks(both, { cpu: '2', memory: '1Gi' })]), 'Burstable'],
    ['one container without limits', specOf([asks(both, both), asks({})]), 'Burstable'],
    ['an init container counts', specOf([asks(both, both)], [asks({})]), 'Burstable'],
    ['limits without requests', specOf([asks({}, both)]), 'Burstable'],
    [
      'the pod alone counts when it says anything',
      specOf([asks({})], [], { resources: { requests: both, limits: both } } as { resources: ResourceRequirements }),
      'Guaranteed',
    ],
    ['an empty word of the pod counts too', specOf([asks(both, both)], [], { resources: {} }), 'BestEffort'],
  ];
  for (const [what, spec, expected] of table) assert.equal(computeQosClass(spec), expected, what);
});
