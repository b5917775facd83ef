import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { kill } from './kill.ts';

stepLaws('kill', () => {
  const { ref, pod, observed, actions, runtime, memory } = new StepWorld();
  return { step: kill(runtime), pod: ref, facts: { pod, observed, actions }, world: () => memory.snapshot() };
});

test('a dead sandbox is stopped and told of before a new one is made', async () => {
  const world = new StepWorld();
  const sandboxId = await world.sandbox();
  world.memory.killSandbox(sandboxId);
  await world.cache.refreshSandbox(sandboxId, world.signal);
  const { pod, observed, actions } = world;
  assert.equal((await kill(world.runtime).run(world.ref, { pod, observed, actions }, world.signal)).kind, 'done');
  assert.deepEqual(world.memory.log.slice(1), ['stopPodSandbox']);
  assert.deepEqual(world.events, ['SandboxChanged Pod sandbox changed, it will be killed and re-created.']);
});

test('a runtime that cannot stop is asked again later', async () => {
  const world = new StepWorld();
  const sandboxId = await world.sandbox();
  world.memory.killSandbox(sandboxId);
  await world.cache.refreshSandbox(sandboxId, world.signal);
  world.memory.before = (call) => {
    if (call === 'stopPodSandbox') throw new Unavailable({ message: 'no answer' });
  };
  const { pod, observed, actions } = world;
  const outcome = await kill(world.runtime).run(world.ref, { pod, observed, actions }, world.signal);
  assert.deepEqual([outcome.kind, outcome.kind === 'wait' && outcome.detail], ['wait', 'error killing pod: no answer']);
});

test('a pod of which nothing may run again is stopped and waits', async () => {
  const { ref, pod, observed, actions, runtime, signal } = new StepWorld();
  const outcome = await kill(runtime).run(ref, { pod, observed, actions: { ...actions, killPod: true, createSandbox: false } }, signal);
  assert.equal(outcome.kind === 'wait' && outcome.reason, 'NothingToRun');
});
