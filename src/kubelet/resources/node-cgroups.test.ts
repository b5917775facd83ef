import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellOfSwap } from './node-cgroups.ts';

test('a node that swaps says so where the kernel cannot keep volumes in memory', () => {
  const toldOn = (swapBytes: number, kernelVersion: string) => {
    const told: string[] = [];
    tellOfSwap({ swapBytes, kernelVersion }, (type, reason) => void told.push(`${type} ${reason}`));
    return told;
  };
  assert.deepEqual(toldOn(1, '6.1.0-18-amd64'), ['Warning PossibleMemoryBackedVolumesOnDisk']);
  assert.deepEqual(toldOn(1, '5.15.0'), ['Warning PossibleMemoryBackedVolumesOnDisk']);
  for (const kernelVersion of ['6.4.0', '6.12.1+bpo', '7.0']) assert.deepEqual(toldOn(1, kernelVersion), []);
  assert.deepEqual(toldOn(0, '5.15.0'), []);
});
