import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { StepWorld } from '../pod-start/testing/step-world.ts';
import { collectGarbage, planGarbage } from './collect-garbage.ts';
import { aContainer, aSandbox, observedOf } from './testing/observed.ts';

test('the newest dead of each name is kept, what runs is not touched', () => {
  const dead = (name: string, restartCount: number) => aContainer(name, { phase: 'exited', restartCount });
  const state = observedOf([aSandbox()], [aContainer('a', { restartCount: 3 }), dead('a', 2), dead('a', 1), dead('b', 1), dead('b', 0)]);
  assert.deepEqual(
    planGarbage(state, 1).map(({ id }) => id),
    ['a-1', 'b-0'],
  );
  assert.deepEqual(
    planGarbage(state, 0).map(({ id }) => id),
    ['a-2', 'a-1', 'b-1', 'b-0'],
  );
});

test('dead containers go with all files of their logs; a dead sandbox goes when nothing is in it', async () => {
  const world = new StepWorld(aPod({ spec: { containers: [aSpec()] } }));
  const { memory, cache, files, signal, runtime } = world;
  const sandboxId = await world.sandbox();
  const request = { pod: world.pod, container: aSpec(), kind: 'container', sandboxId, cgroupParent: '/c', podIPs: [], volumes: new Map() } as const;
  const logs = '/pod-logs/default_web_uid-of-web/main';
  for (const run of [0, 1]) {
    await runtime.startContainer(request, signal);
    const id = memory.containerNamed('main') ?? '';
    memory.exit(id, 1);
    await cache.refreshContainer(id, signal);
    for (const file of [`${run}.log`, `${run}.log.20300101-000000.gz`]) await files.write(`${logs}/${file}`, '', 0o640, signal);
    await world.clock.advance(60_000);
  }
  const collect = () => collectGarbage({ runtime: memory, cache, files, logger: silentLogger, keepDead: 1 }, signal);
  await collect();
  assert.deepEqual(
    (await files.list(logs, signal)).map(({ name }) => name),
    ['1.log', '1.log.20300101-000000.gz'],
  );
  assert.equal(world.observed.containers.length, 1);

  memory.killSandbox(sandboxId);
  await cache.refreshSandbox(sandboxId, signal);
  await runtime.createSandbox(world.pod, 1, '/c', signal);
  await collect();
  assert.equal(world.observed.sandboxes.length, 2, 'a container is still in the old one');
  await memory.removeContainer(memory.containerNamed('main') ?? '', signal);
  await collect();
  assert.deepEqual(
    world.observed.sandboxes.map(({ attempt }) => attempt),
    [1],
  );
});
