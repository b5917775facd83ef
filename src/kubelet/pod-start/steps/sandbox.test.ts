import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CniFailed, NameReserved } from '#wire/cri/errors.ts';
import { stepLaws, stopNow } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { sandbox } from './sandbox.ts';

const factsOf = ({ pod, actions }: StepWorld) => ({ pod, actions, cgroupPath: '/pods/u', podDir: '/p' });

stepLaws('sandbox', () => {
  const world = new StepWorld();
  return { step: sandbox(world.runtime), pod: world.ref, facts: factsOf(world), world: () => world.memory.snapshot() };
});

test('a sandbox that is as it should be is kept', async () => {
  const world = new StepWorld();
  const sandboxId = await world.sandbox();
  assert.deepEqual(await sandbox(world.runtime).run(world.ref, factsOf(world), world.signal), { kind: 'done', writes: { sandboxId } });
  assert.deepEqual(world.memory.log, ['runPodSandbox']);
});

test('a ready sandbox that an interrupted request left is found by its name, not made twice', async () => {
  const before = new StepWorld();
  const sandboxId = await before.sandbox();
  const world = new StepWorld(before.pod, before.memory);
  const step = sandbox(world.runtime);
  const facts = factsOf(world);
  assert.equal((await step.run(world.ref, facts, world.signal)).kind, 'wait');
  assert.deepEqual(await step.run(world.ref, facts, world.signal), { kind: 'done', writes: { sandboxId } });
});

test('a failure of the network plugins has a reason of its own, and the same event', async () => {
  const world = new StepWorld();
  world.memory.before = (call) => {
    if (call === 'runPodSandbox') throw new CniFailed({ message: 'runPodSandbox: no bridge', details: 'no bridge' });
  };
  const step = sandbox(world.runtime);
  const outcome = await step.run(world.ref, factsOf(world), world.signal);
  assert.deepEqual(outcome.kind === 'wait' && [outcome.reason, outcome.detail], ['CniFailed', 'Failed to create pod sandbox: no bridge']);
  assert.equal(step.reasons.CniFailed.event, 'FailedCreatePodSandBox');
});

test('a name that stays reserved for half a minute gives way to the next attempt', async () => {
  const world = new StepWorld();
  let reserved = true;
  world.memory.before = (call) => {
    if (call === 'runPodSandbox' && reserved) throw new NameReserved({ message: 'reserved', details: 'reserved' });
  };
  const step = sandbox(world.runtime);
  const first = await step.run(world.ref, factsOf(world), world.signal);
  assert.deepEqual(first.kind === 'wait' && [first.reason, first.atLatestMs], ['SandboxNameReserved', 25]);
  await world.clock.advance(31_000);
  reserved = false;
  await step.run(world.ref, factsOf(world), world.signal);
  assert.deepEqual(world.memory.snapshot(), { sandboxes: ['web/1 0'], containers: [] });
});

test('the end of a finished pod keeps its records, the end of a deleted one keeps nothing', async () => {
  const world = new StepWorld();
  await world.sandbox();
  const step = sandbox(world.runtime);
  await step.undo?.(world.ref, {}, stopNow('finished'), world.signal);
  assert.deepEqual(world.memory.snapshot(), { sandboxes: ['web/0 1'], containers: [] });
  await step.undo?.(world.ref, {}, stopNow('deleted'), world.signal);
  assert.deepEqual(world.memory.snapshot(), { sandboxes: [], containers: [] });
});
