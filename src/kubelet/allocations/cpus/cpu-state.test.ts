import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CpuState, CpuStateFile, checkState } from './cpu-state.ts';

const { signal } = new AbortController();
const state: CpuState = { policyName: 'static', defaultCpuSet: '0,2-3', entries: { uid: { main: '1' } } };

function aFile() {
  const kept: { content: string | undefined } = { content: undefined };
  const files = {
    read: async () => (kept.content === undefined ? undefined : Buffer.from(kept.content)),
    async write(_path: string, content: Uint8Array | string) {
      kept.content = String(content);
    },
  };
  return { kept, file: new CpuStateFile(files, '/root') };
}

test('what was written is read, nothing is there at first', async () => {
  const { file } = aFile();
  assert.equal(await file.load('static', signal), undefined);
  await file.save(state, signal);
  assert.deepEqual(await file.load('static', signal), state);
});

test('a file of another policy, and a damaged one, are refused with the mend', async () => {
  const { file, kept } = aFile();
  await file.save(state, signal);
  await assert.rejects(file.load('none', signal), {
    message:
      'could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "/root/cpu_manager_state" before restarting Kubelet',
  });
  kept.content = kept.content?.replace('0,2-3', '0,2-4');
  await assert.rejects(file.load('static', signal), { message: /^could not restore state from checkpoint: checkpoint is corrupted, please drain/ });
});

test('a machine with other CPUs, and another reservation, are refused', () => {
  assert.doesNotThrow(() => checkState(state, [0, 1, 2, 3], [0], true));
  assert.throws(() => checkState(state, [0, 1, 2], [0], true), {
    message: 'current set of available CPUs "0-2" doesn\'t match with CPUs in state "0-3"',
  });
  assert.throws(() => checkState(state, [0, 1, 2, 3], [1], true), { message: 'not all reserved cpus: "1" are present in defaultCpuSet: "0,2-3"' });
});
