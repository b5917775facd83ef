import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { machine } from '../testing/machine.ts';
import { chooseCpus } from './choose-cpus.ts';

const all = (cpus: readonly { readonly cpu: number }[]) => new Set(cpus.map(({ cpu }) => cpu));
/** 2 sockets of 2 cores of 2 threads: core 0 is CPUs 0 and 4, core 1 is 1 and 5, core 2 and 3 are on the second socket. */
const eight = machine(2, 2, 2);

test('a whole socket, a whole core, a thread: the largest piece that fits', () => {
  assert.deepEqual(chooseCpus(eight, all(eight), 4), [0, 1, 4, 5]);
  assert.deepEqual(chooseCpus(eight, all(eight), 2), [0, 4]);
  assert.deepEqual(chooseCpus(eight, all(eight), 7), [0, 1, 2, 3, 4, 5, 6]);
});

test('a core that is broken already gives its thread, before a whole one is broken', () => {
  assert.deepEqual(chooseCpus(eight, new Set([1, 5, 7]), 1), [7]);
  assert.deepEqual(chooseCpus(eight, new Set([1, 5, 7]), 3), [1, 5, 7]);
});

test('only whole cores, or nothing, where that is asked', () => {
  assert.deepEqual(chooseCpus(eight, new Set([0, 1, 5]), 2, { wholeCores: true }), [1, 5]);
  assert.equal(chooseCpus(eight, new Set([0, 1]), 2, { wholeCores: true }), undefined);
});

test('as many as asked and only free ones, or nothing when there are too few', () => {
  const subset = fc.subarray([...all(eight)]);
  fc.assert(
    fc.property(subset, fc.integer({ min: 0, max: 9 }), (free, count) => {
      const chosen = chooseCpus(eight, new Set(free), count);
      if (count > free.length) return chosen === undefined;
      return chosen?.length === count && new Set(chosen).size === count && chosen.every((cpu) => free.includes(cpu));
    }),
  );
});
