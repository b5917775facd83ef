import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode } from '#api/testing/objects.ts';
import { node } from './node.ts';

test('a kubelet may register its node with the status that it has', () => {
  const registered = aNode({ status: { capacity: { cpu: '2' }, conditions: [{ type: 'Ready', status: 'True' }] } });
  assert.deepEqual(node.prepareCreate(registered).status, registered.status);
});

test('a later update of the node leaves its status as it is', () => {
  const before = aNode({ status: { capacity: { cpu: '2' } } });
  assert.deepEqual(node.prepareUpdate({ ...before, status: { capacity: { cpu: '64' } } }, before).status, before.status);
});
