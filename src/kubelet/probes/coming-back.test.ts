import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { aPod, exec, World } from './testing/world.ts';

/** A kubelet that comes back to a container that has run for a minute, of which the one before told this. */
async function comingBack(pod: Pod, told: { readonly ready: boolean; readonly started: boolean }, id = 'a'): Promise<World> {
  const world = new World();
  world.startedAtMs = world.clock.now() - 60_000;
  const status = { name: 'c', restartCount: 0, image: '', imageID: '', containerID: `containerd://${id}`, ...told };
  world.manager.ensure({ ...pod, status: { containerStatuses: [status] } });
  await world.container('a', 'running');
  return world;
}

test('what was ready and started stays so, and is asked after a part of its period', async () => {
  const world = await comingBack(aPod({ startup: exec, readiness: exec, liveness: exec }), { ready: true, started: true });
  assert.deepEqual([world.result('startup'), world.result('readiness'), world.result('liveness')], ['success', 'success', 'success']);
  await world.clock.advance(4_999);
  assert.deepEqual(world.askedAtMs, []);
  await world.clock.advance(10_001);
  assert.deepEqual(world.askedAtMs, [5_000, 5_000, 15_000, 15_000], 'readiness and liveness; the startup probe has said its last word');
  assert.deepEqual(world.changes, []);
});

test('what was ready becomes unready at its threshold only', async () => {
  const world = await comingBack(aPod({ readiness: { ...exec, periodSeconds: 2, failureThreshold: 3 } }), { ready: true, started: true });
  world.answers = [1];
  await world.clock.advance(3_000);
  assert.deepEqual(world.changes, []);
  await world.clock.advance(2_000);
  assert.deepEqual(world.changes, ['a readiness failure']);
});

test('what had not started goes on starting', async () => {
  const world = await comingBack(aPod({ startup: exec, readiness: exec }), { ready: false, started: false });
  assert.deepEqual([world.result('startup'), world.result('readiness')], ['unknown', 'failure']);
  await world.clock.advance(5_000);
  assert.deepEqual([world.result('startup'), world.result('readiness')], ['success', 'success']);
});

test('what was told of another container counts for nothing', async () => {
  const world = await comingBack(aPod({ readiness: exec }), { ready: true, started: true }, 'another');
  assert.equal(world.result('readiness'), 'failure');
});

test('a container that starts after the kubelet is asked at once', async () => {
  const world = new World();
  world.manager.ensure(aPod({ readiness: exec }));
  await world.clock.advance(100);
  await world.container('a', 'running');
  assert.deepEqual(world.askedAtMs, [100]);
});
