import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceHints } from './device-hints.ts';

const all = new Map([
  ['a0', 1],
  ['a1', 1],
  ['b0', 2],
]);
const hints = (count: number, available: readonly string[], reusable: readonly string[] = []) =>
  deviceHints({ count, all, available: new Set(available), reusable: new Set(reusable) }, [0, 1]);

test('the sets of nodes with enough devices, preferred those that would do if all were free', () => {
  assert.deepEqual(hints(1, ['a0', 'b0']), [
    { nodes: 1, preferred: true },
    { nodes: 2, preferred: true },
    { nodes: 3, preferred: false },
  ]);
  assert.deepEqual(hints(2, ['a0', 'b0']), [{ nodes: 3, preferred: false }]);
  assert.deepEqual(hints(3, ['a0', 'a1', 'b0']), [{ nodes: 3, preferred: true }]);
});

test('too few are nowhere, devices of no node may be anywhere, what is taken over decides where', () => {
  assert.deepEqual(hints(3, ['a0', 'b0']), []);
  assert.equal(deviceHints({ count: 1, all: new Map([['x', 0]]), available: new Set(['x']), reusable: new Set() }, [0, 1]), undefined);
  assert.deepEqual(hints(1, ['a0'], ['b0']), [
    { nodes: 2, preferred: true },
    { nodes: 3, preferred: false },
  ]);
});
