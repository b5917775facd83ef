import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toleration } from '#api/types/core-v1.ts';
import { findUntolerated, toleratedSeconds, tolerates } from './taints.ts';

const taint = { key: 'k', value: 'v', effect: 'NoExecute' };

const table: readonly (readonly [toleration: Toleration, expected: boolean])[] = [
  [{ operator: 'Exists' }, true],
  [{ key: 'k', operator: 'Exists' }, true],
  [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, false],
  [{ key: 'other', operator: 'Exists' }, false],
  [{ key: 'k', operator: 'Equal', value: 'v' }, true],
  [{ key: 'k', value: 'v', effect: 'NoExecute' }, true],
  [{ key: 'k', value: 'w' }, false],
  [{ key: 'k', operator: '', value: 'v' }, true],
  [{}, false],
];

for (const [toleration, expected] of table) {
  test(`${JSON.stringify(toleration)} ${expected ? 'covers' : 'does not cover'} k=v:NoExecute`, () =>
    assert.equal(tolerates(toleration, taint), expected));
}

test('only taints with the asked effects count', () => {
  const taints = [{ key: 'a', effect: 'PreferNoSchedule' }, taint];
  assert.equal(findUntolerated(taints, [], ['NoSchedule', 'NoExecute']), taint);
  assert.equal(findUntolerated(taints, [{ operator: 'Exists' }], ['NoSchedule', 'NoExecute']), undefined);
  assert.equal(findUntolerated(taints, undefined, ['NoSchedule']), undefined);
});

test('a pod stays as long as the shortest toleration says', () => {
  assert.equal(toleratedSeconds([taint], []), 0);
  assert.equal(toleratedSeconds([], []), Number.POSITIVE_INFINITY);
  assert.equal(toleratedSeconds([taint], [{ operator: 'Exists' }]), Number.POSITIVE_INFINITY);
  assert.equal(toleratedSeconds([taint], [{ operator: 'Exists' }, { key: 'k', operator: 'Exists', tolerationSeconds: 300 }]), 300);
  assert.equal(toleratedSeconds([taint], [{ operator: 'Exists', tolerationSeconds: -5 }]), 0);
});
