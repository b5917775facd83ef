import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageVolumesProblem } from './create-node-config.ts';

test('images as volumes are asked only of a runtime that knows them', () => {
  const problemOf = (runtimeVersion: string, runtimeName = 'containerd') => imageVolumesProblem({ runtimeName, runtimeVersion });
  assert.equal(problemOf('1.6.20~ds1'), 'containerd 1.6.20~ds1 cannot mount images: 2.1 and newer can');
  assert.match(problemOf('v2.0.5'), /cannot mount images/);
  assert.deepEqual([problemOf('v2.1.0'), problemOf('3.0.0'), problemOf('1.31.0', 'cri-o')], ['', '', '']);
});
