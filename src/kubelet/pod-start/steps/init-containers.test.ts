import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { initContainers } from './init-containers.ts';

const sidecar = aContainer({ name: 'side', restartPolicy: 'Always' });
const factsOf = (world: StepWorld, sandboxId: string) => ({
  pod: world.pod,
  actions: world.actions,
  cgroupPath: '/c',
  sandboxId,
  podIPs: ['10.0.0.2'],
  mountedVolumes: new Map(),
});

stepLaws('init-containers', () => {
  const world = new StepWorld();
  return { step: initContainers(world.runtime), pod: world.ref, facts: factsOf(world, 'none'), world: () => world.memory.snapshot() };
});

test('the next one is started, and its end is waited for', async () => {
  const world = new StepWorld(aPod({ spec: { initContainers: [aContainer({ name: 'one' }), aContainer({ name: 'two' })] } }));
  const sandboxId = await world.sandbox();
  const outcome = await initContainers(world.runtime).run(world.ref, factsOf(world, sandboxId), world.signal);
  assert.deepEqual(outcome.kind === 'wait' && [outcome.reason, outcome.wakeOn], ['InitContainerRuns', [{ kind: 'runtime' }]]);
  assert.deepEqual(world.memory.log, ['runPodSandbox', 'createContainer', 'startContainer']);
});

test('one whose image is missing holds the pod under the reason of the image', async () => {
  const world = new StepWorld(aPod({ spec: { initContainers: [aContainer({ name: 'one', image: 'missing:1' })] } }));
  const outcome = await initContainers(world.runtime).run(world.ref, factsOf(world, await world.sandbox()), world.signal);
  assert.equal(outcome.kind === 'wait' && outcome.reason, 'ErrImagePull');
});

test('a sidecar that died does not hold up what runs: it is started again and the step is done', async () => {
  const world = new StepWorld(aPod({ spec: { initContainers: [sidecar] } }));
  const sandboxId = await world.sandbox();
  const facts = factsOf(world, sandboxId);
  const outcome = await initContainers(world.runtime).run(
    world.ref,
    { ...facts, actions: { ...facts.actions, startInit: ['side'], initialised: true } },
    world.signal,
  );
  assert.deepEqual(outcome, { kind: 'done', writes: { initStates: { side: 'running' }, blockedBeside: [] } });
  assert.notEqual(world.memory.containerNamed('side'), undefined);
});
