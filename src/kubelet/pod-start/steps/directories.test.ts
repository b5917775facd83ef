import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { createMemoryMounter } from '#os/memory/mounter.ts';
import { createPodDirectories } from '../../pod-directories.ts';
import { MountBelow } from '../../ports/host-errors.ts';
import { stepLaws, stopNow } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { directories } from './directories.ts';

const { ref, signal } = new StepWorld();
const roots = { root: '/kubelet', podLogs: '/pod-logs' };

stepLaws('directories', () => {
  const tree = new MemoryTree();
  const files = createMemoryFiles(tree);
  return { step: directories(createPodDirectories(files, roots)), pod: ref, facts: {} };
});

test('the folders are there with mode 0750, and gone after the end', async () => {
  const files = createMemoryFiles(new MemoryTree());
  const step = directories(createPodDirectories(files, roots));
  assert.deepEqual(await step.run(ref, {}, signal), { kind: 'done', writes: { podDir: `/kubelet/pods/${ref.uid}` } });
  assert.equal((await files.stat(`/kubelet/pods/${ref.uid}/volumes`, signal))?.mode, 0o750);
  await step.undo?.(ref, (await step.find?.(ref, signal)) ?? {}, stopNow(), signal);
  assert.deepEqual(await files.list('/kubelet/pods', signal), []);
});

test('nothing is removed while something is mounted there', async () => {
  const tree = new MemoryTree();
  const files = createMemoryFiles(tree);
  const step = directories(createPodDirectories(files, roots));
  await step.run(ref, {}, signal);
  await createMemoryMounter(tree).tmpfs(`/kubelet/pods/${ref.uid}/volumes`, { sizeBytes: 0, mode: 0o755 }, signal);
  await assert.rejects(async () => step.undo?.(ref, { podDir: 'there' }, stopNow(), signal), MountBelow);
  assert.equal((await files.list('/kubelet/pods', signal)).length, 1);
});

test('of a pod that nobody knows it is told in upstream\u2019s words', async () => {
  const tree = new MemoryTree();
  const files = createMemoryFiles(tree);
  const step = directories(createPodDirectories(files, roots));
  await step.run(ref, {}, signal);
  const path = `/kubelet/pods/${ref.uid}`;
  await createMemoryMounter(tree).tmpfs(`${path}/volumes`, { sizeBytes: 0, mode: 0o755 }, signal);
  await assert.rejects(async () => step.undo?.(ref, { podDir: path }, { ...stopNow(), reason: 'orphan' }, signal), {
    message:
      `orphaned pod "${ref.uid}" found, but error occurred when trying to remove the pod directory: ` +
      `${path} is not removed: ${path}/volumes is mounted`,
  });
});
