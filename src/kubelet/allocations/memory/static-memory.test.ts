import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod } from '#api/testing/objects.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { nothingReserved } from '../../resources/node-budget.ts';
import { nodesOfMask } from '../topology/node-sets.ts';
import { checkedReservation } from './create-memory.ts';
import { memoryHints, memoryMachine } from './memory-machine.ts';
import { StaticMemory } from './static-memory.ts';

const { signal } = new AbortController();
const nodesOf = (...sizes: readonly number[]) => sizes.map((memoryBytes, node) => ({ node, memoryBytes, hugepages: [], distances: [] }));
const container = (name: string, memory: number, more: Partial<Container> = {}): Container => {
  const amounts = { cpu: '100m', memory: String(memory) };
  return { name, image: 'a', resources: { limits: amounts, requests: amounts }, ...more };
};
const podOf = (name: string, containers: readonly Container[], initContainers: readonly Container[] = []): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { containers, initContainers }, status: { qosClass: 'Guaranteed' } });

function aPolicy(...sizes: readonly number[]) {
  const policy = new StaticMemory({ nodes: nodesOf(...sizes), reserved: new Map(), entries: {}, save: async () => undefined });
  const allocate = async (pod: Pod) => {
    for (const one of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const refusal = await policy.allocate(pod, one, undefined, signal);
      if (refusal !== undefined) return refusal.message;
    }
    return undefined;
  };
  const placeOf = async (pod: Pod, name = 'main') => (await policy.prepare(pod, container(name, 1)))?.memoryNodes;
  return { policy, allocate, placeOf };
}

test('the smallest set of nodes that holds it, and nothing for who is not Guaranteed', async () => {
  const { allocate, placeOf } = aPolicy(10, 10);
  const [small, more] = [podOf('small', [container('main', 6)]), podOf('more', [container('main', 6)])];
  assert.deepEqual([await allocate(small), await allocate(more)], [undefined, undefined]);
  assert.deepEqual([await placeOf(small), await placeOf(more)], ['0', '1']);
  const loose = aPod({ metadata: { uid: 'loose' }, spec: { containers: [{ name: 'main', image: 'a' }] } });
  assert.deepEqual([await allocate(loose), await placeOf(loose)], [undefined, undefined]);
});

test('a node is used alone or always with the same others', async () => {
  const { allocate, placeOf } = aPolicy(10, 10, 10);
  const wide = podOf('wide', [container('main', 15)]);
  assert.equal(await allocate(wide), undefined);
  assert.equal(await placeOf(wide), '0-1');
  const narrow = podOf('narrow', [container('main', 2)]);
  assert.equal(await allocate(narrow), undefined);
  assert.equal(await placeOf(narrow), '2');
  assert.equal(
    await allocate(podOf('none', [container('main', 9)])),
    'Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
  );
});

test('what an init container had is not counted twice, and all comes back', async () => {
  const { policy, allocate } = aPolicy(10);
  assert.equal(await allocate(podOf('pod', [container('main', 8)], [container('first', 6)])), undefined);
  assert.equal(policy.machine.get(0)?.memoryMap['memory']?.free, 2);
  assert.deepEqual(policy.hints(podOf('pod', []), container('main', 8)).get('memory'), [{ nodes: 1, preferred: true }]);
  policy.release('pod');
  assert.equal(policy.machine.get(0)?.memoryMap['memory']?.free, 10);
});

test('every hint holds what is asked, and the preferred ones are the smallest', () => {
  const size = fc.integer({ min: 1, max: 20 });
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 4 }), size, (sizes, asked) => {
      const hints = memoryHints(memoryMachine(nodesOf(...sizes), new Map(), []), new Map([['memory', asked]]), () => 0);
      const roomOf = (mask: number) => nodesOfMask(mask).reduce((sum, node) => sum + (sizes[node] ?? 0), 0);
      assert.equal(hints.length > 0, sizes.reduce((a, b) => a + b) >= asked);
      const least = Math.min(...hints.map(({ nodes }) => nodesOfMask(nodes).length));
      for (const { nodes, preferred } of hints) {
        assert.ok(roomOf(nodes) >= asked);
        assert.equal(preferred, nodesOfMask(nodes).length === least);
      }
    }),
  );
});

test('reservedMemory must be what is kept back from pods, on nodes that are there', () => {
  const budget = {
    reserved: { ...nothingReserved, memoryBytes: 300 * 2 ** 20 },
    thresholds: { memory: { bytes: 100 * 2 ** 20 }, ephemeralStorage: { bytes: 0 } },
  };
  const given = (numaNode: number, memory: string) => [{ numaNode, limits: { memory } }];
  assert.deepEqual(checkedReservation(given(0, '400Mi'), nodesOf(2 ** 30), budget), new Map([[0, new Map([['memory', 400 * 2 ** 20]])]]));
  assert.throws(() => checkedReservation(given(0, '300Mi'), nodesOf(2 ** 30), budget), {
    message: 'the total amount "300Mi" of type "memory" is not equal to the value "400Mi" determined by Node Allocatable feature',
  });
  assert.throws(() => checkedReservation(given(3, '400Mi'), nodesOf(2 ** 30), budget), {
    message: 'the reserved memory configuration references a NUMA node 3 that does not exist on this machine',
  });
});
