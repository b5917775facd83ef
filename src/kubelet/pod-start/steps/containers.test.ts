import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import { stepLaws, stopNow } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { containers } from './containers.ts';

const factsOf = (world: StepWorld, sandboxId: string) => ({
  pod: world.pod,
  observed: world.observed,
  actions: world.actions,
  cgroupPath: '/c',
  sandboxId,
  podIPs: ['10.0.0.2'],
  mountedVolumes: new Map(),
  initStates: {},
  blockedBeside: [],
});

stepLaws('containers', () => {
  const world = new StepWorld();
  const facts = factsOf(world, 'none');
  return {
    step: containers(world.runtime),
    pod: world.ref,
    facts: { ...facts, actions: { ...facts.actions, startContainers: [] } },
    world: () => world.memory.snapshot(),
  };
});

test('containers start in the order of the spec, with what they are made of on disk', async () => {
  const world = new StepWorld(aPod({ spec: { containers: [aContainer({ name: 'b' }), aContainer({ name: 'a' })] } }));
  const outcome = await containers(world.runtime).run(world.ref, factsOf(world, await world.sandbox()), world.signal);
  assert.deepEqual(outcome, { kind: 'done', writes: { containerStates: { b: 'b-2', a: 'a-3' } } });
  const text = new TextDecoder().decode(await world.files.read('/kubelet/pods/uid-of-web/etc-hosts', world.signal));
  assert.match(text, /^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n[\s\S]*\n10\.0\.0\.2\tweb\n$/);
});

test('one that cannot start does not hold up the others', async () => {
  const world = new StepWorld(aPod({ spec: { containers: [aContainer({ name: 'bad', image: 'missing:1' }), aContainer({ name: 'good' })] } }));
  const outcome = await containers(world.runtime).run(world.ref, factsOf(world, await world.sandbox()), world.signal);
  assert.deepEqual(outcome.kind === 'wait' && [outcome.reason, outcome.detail], ['ErrImagePull', 'bad: missing:1: not found']);
  assert.notEqual(world.memory.containerNamed('good'), undefined);
});

test('the end stops what runs, sidecars after the others', async () => {
  const side = aContainer({ name: 'side', restartPolicy: 'Always', lifecycle: { preStop: { exec: { command: ['bye'] } } } });
  const world = new StepWorld(aPod({ spec: { initContainers: [side] } }));
  const sandboxId = await world.sandbox();
  for (const [container, kind] of [
    [side, 'init'],
    [aContainer(), 'container'],
  ] as const) {
    await world.runtime.startContainer(
      { pod: world.pod, container, kind, sandboxId, cgroupParent: '/c', podIPs: [], volumes: new Map() },
      world.signal,
    );
  }
  const stopped: string[] = [];
  const stop = world.memory.stopContainer.bind(world.memory);
  world.memory.stopContainer = async (id, seconds, signal) => {
    stopped.push(id);
    await stop(id, seconds, signal);
  };
  const { deadlineMs } = stopNow();
  await containers(world.runtime).undo?.(
    world.ref,
    {},
    { reason: 'deleted', deadlineMs: { ...deadlineMs, get: () => world.clock.now() + 5000, subscribe: () => () => undefined }, spec: world.pod.spec },
    world.signal,
  );
  assert.deepEqual(
    stopped.map((id) => id.replace(/-\d+$/, '')),
    ['main', 'side'],
  );
  assert.ok(world.memory.log.includes('execSync bye'));
});
