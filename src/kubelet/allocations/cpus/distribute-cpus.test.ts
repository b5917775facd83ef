import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { machine } from '../testing/machine.ts';
import { distributeCpus } from './distribute-cpus.ts';

/** 2 memory nodes of 4 cores with 2 threads: cores 0-3 (CPUs 0-3 and 8-11) on the first. */
const sixteen = machine(2, 4, 2);
const all = new Set(sixteen.map(({ cpu }) => cpu));
const perNode = (cpus: readonly number[] | undefined) => [0, 1].map((node) => cpus?.filter((cpu) => sixteen[cpu]?.memoryNode === node).length);

test('what one node can give is not spread, what needs two is spread evenly', () => {
  assert.equal(distributeCpus(sixteen, all, 8, 1), undefined);
  assert.deepEqual(perNode(distributeCpus(sixteen, all, 10, 1)), [5, 5]);
  assert.deepEqual(perNode(distributeCpus(sixteen, all, 10, 2)), [6, 4]);
  assert.equal(distributeCpus(sixteen, all, 9, 2), undefined);
});

test('a node that has less than its even share makes a spread impossible', () => {
  const without = new Set([...all].filter((cpu) => ![0, 1, 2, 8, 9, 10].includes(cpu)));
  assert.equal(distributeCpus(sixteen, without, 10, 1), undefined);
});

test('as many as asked, each once, only free ones, and no node has two groups more than another', () => {
  fc.assert(
    fc.property(fc.subarray([...all]), fc.integer({ min: 1, max: 16 }), fc.constantFrom(1, 2), (free, count, groupSize) => {
      const chosen = distributeCpus(sixteen, new Set(free), count, groupSize);
      if (chosen === undefined) return true;
      const [first = 0, second = 0] = perNode(chosen);
      return (
        chosen.length === count &&
        new Set(chosen).size === count &&
        chosen.every((cpu) => free.includes(cpu)) &&
        Math.abs(first - second) <= groupSize
      );
    }),
  );
});
