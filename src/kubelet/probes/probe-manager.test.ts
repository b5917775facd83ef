import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, exec, running, uid, World } from './testing/world.ts';

test('a container is asked as soon as it runs, then every period', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 5 } }));
  assert.deepEqual(world.changes, ['a readiness success']);
  await world.clock.advance(12_000);
  assert.deepEqual(world.askedAtMs, [0, 5_000, 10_000]);
  assert.deepEqual(world.changes, ['a readiness success']);
});

test('a container without a probe has no result, one that nobody knows neither', async () => {
  const world = await running(aPod({ readiness: exec }));
  assert.equal(world.result('liveness'), undefined);
  assert.equal(world.result('readiness', 'other'), undefined);
});

test('before the first answer the initial results hold', async () => {
  const world = await running(aPod({ startup: exec, readiness: exec, liveness: exec }), ['hang']);
  assert.deepEqual([world.result('startup'), world.result('readiness'), world.result('liveness')], ['unknown', 'failure', 'success']);
});

test('a result is known to who asks before the manager heard of the container', async () => {
  const world = await running(aPod({ readiness: exec }));
  world.manager.subscribe(() => undefined);
  await world.container('b', 'running');
  assert.equal(world.result('readiness', 'a'), undefined);
  assert.equal(world.result('readiness', 'b'), 'success');
});

test('the initial delay is kept', async () => {
  const world = await running(aPod({ readiness: { ...exec, initialDelaySeconds: 3, periodSeconds: 10 } }));
  await world.clock.advance(3_000);
  assert.deepEqual(world.askedAtMs, [3_000]);
});

test('subtle 32: liveness and readiness wait for the startup probe and begin at once behind it', async () => {
  const world = await running(aPod({ startup: { ...exec, periodSeconds: 2 }, readiness: { ...exec, periodSeconds: 60 } }), [1, 0]);
  assert.deepEqual(world.askedAtMs, [0]);
  await world.clock.advance(2_000);
  assert.deepEqual(world.changes, ['a startup success', 'a readiness success']);
  assert.deepEqual(world.askedAtMs, [0, 2_000, 2_000]);
  await world.clock.advance(30_000);
  assert.equal(world.askedAtMs.length, 3, 'a startup probe that succeeded is not asked again');
});

test('subtle 34: a liveness probe fails at its threshold, tells each failure, and waits for another container', async () => {
  const world = await running(aPod({ liveness: { ...exec, periodSeconds: 1, failureThreshold: 2 } }), [0, 1]);
  await world.clock.advance(10_000);
  assert.deepEqual(world.changes, ['a liveness failure']);
  assert.deepEqual(world.events, [
    'p spec.containers{c} Unhealthy: Liveness probe failed: out',
    'p spec.containers{c} Unhealthy: Liveness probe failed: out',
  ]);
  assert.deepEqual(world.askedAtMs, [0, 1_000, 2_000]);
  world.answers = [0];
  await world.container('b', 'running');
  assert.equal(world.result('liveness', 'b'), 'success');
  assert.equal(world.askedAtMs.length, 4);
});

test('subtle 30: a container whose start hook is not over is not asked', async () => {
  const world = new World();
  world.hold = 'starting';
  world.manager.ensure(aPod({ liveness: { ...exec, periodSeconds: 1 } }));
  await world.container('a', 'running');
  await world.clock.advance(5_000);
  assert.deepEqual(world.askedAtMs, []);
  world.hold = undefined;
  await world.container('a', 'running');
  assert.deepEqual(world.askedAtMs, [5_000]);
  await world.manager.close();
});

test('readiness goes and comes', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 1, failureThreshold: 1 } }), [0, 1, 0]);
  await world.clock.advance(2_000);
  assert.deepEqual(world.changes, ['a readiness success', 'a readiness failure', 'a readiness success']);
});

test('a container that ended is not ready, and is not asked', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 1 } }));
  await world.container('a', 'exited');
  await world.clock.advance(5_000);
  assert.deepEqual(world.changes, ['a readiness success', 'a readiness failure']);
  assert.equal(world.askedAtMs.length, 1);
});

test('an answer about a container that is gone is not taken for the next one', async () => {
  const world = await running(aPod({ readiness: exec }), ['hang', 1]);
  await world.container('a', 'exited');
  await world.container('b', 'running');
  assert.equal(world.result('readiness', 'b'), 'failure');
  assert.equal(world.askedAtMs.length, 2);
});

test('a pod that is being deleted is not restarted by its probes, and stays ready while it is', async () => {
  const world = await running(aPod({ liveness: { ...exec, periodSeconds: 1, failureThreshold: 1 }, readiness: { ...exec, periodSeconds: 1 } }));
  world.manager.ensure(aPod({}, { deleting: true }));
  world.answers = [1];
  await world.clock.advance(1_000);
  assert.equal(world.result('liveness'), 'success');
  assert.deepEqual(world.events, ['p spec.containers{c} Unhealthy: Readiness probe failed: out']);
});

test('a stopping pod keeps readiness alone; a sidecar keeps all until the end', async () => {
  const probes = { liveness: { ...exec, periodSeconds: 1, failureThreshold: 1 }, readiness: { ...exec, periodSeconds: 1 } };
  for (const [sidecar, asked] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const world = await running(aPod(probes, { sidecar }));
    const before = world.askedAtMs.length;
    world.manager.stopRestarting(uid);
    await world.clock.advance(1_000);
    assert.equal(world.askedAtMs.length - before, asked);
  }
});

test('a removed pod leaves no timer', async () => {
  const world = await running(aPod({ liveness: exec, readiness: exec }));
  world.manager.remove(uid);
  assert.equal(world.clock.waiting, 0);
  await world.manager.close();
});

test('close ends a probe that hangs', async () => {
  const world = await running(aPod({ liveness: exec }), ['hang']);
  await world.manager.close();
  assert.equal(world.clock.waiting, 0);
});

test('subtle 33: what cannot be asked counts as nothing and is told each period', async () => {
  const badPort = { tcpSocket: { port: 'http' }, periodSeconds: 1, failureThreshold: 1 };
  const world = await running(aPod({ liveness: badPort, readiness: badPort }));
  await world.clock.advance(2_000);
  assert.deepEqual([world.result('liveness'), world.result('readiness'), world.changes], ['success', 'failure', []]);
  const text = 'probe errored and resulted in unknown state: strconv.Atoi: parsing "http": invalid syntax';
  assert.equal(world.events.filter((event) => event === `p spec.containers{c} Unhealthy: Liveness ${text}`).length, 3);
  assert.equal(world.events.filter((event) => event === `p spec.containers{c} Unhealthy: Readiness ${text}`).length, 3);
});

test('a pod that is looked at while it is not ready is asked again, and goes on from there', async () => {
  const world = await running(aPod({ readiness: { ...exec, periodSeconds: 10 } }), [1, 0]);
  await world.clock.advance(500);
  world.manager.ensure(aPod({}));
  await world.clock.advance(0);
  assert.deepEqual(world.askedAtMs, [0], 'twice a second helps nobody');
  await world.clock.advance(2_500);
  world.manager.ensure(aPod({}));
  await world.clock.advance(0);
  assert.deepEqual(world.changes, ['a readiness success']);
  world.manager.ensure(aPod({}));
  await world.clock.advance(10_000);
  assert.deepEqual(world.askedAtMs, [0, 3_000, 13_000]);
});
