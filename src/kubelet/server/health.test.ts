import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type HealthCheck, healthAnswer, syncLoopCheck, withHealthMetrics } from './health.ts';

const fine: HealthCheck = () => undefined;
const broken: HealthCheck = () => {
  throw new Error('sync Loop took longer than expected');
};

async function ask(checks: Readonly<Record<string, HealthCheck>>, check = '', query = ''): Promise<readonly [number, string]> {
  const { status, body } = await healthAnswer(new Map(Object.entries(checks)), check, new URLSearchParams(query));
  if (!(body instanceof Uint8Array)) assert.fail('the answer is short');
  return [status, Buffer.from(body).toString()];
}

test('a healthy kubelet says ok, and lists its checks when asked', async () => {
  assert.deepEqual(await ask({ ping: fine, log: fine }), [200, 'ok']);
  assert.deepEqual(await ask({ ping: fine, log: fine }, '', 'verbose'), [200, '[+]ping ok\n[+]log ok\nhealthz check passed\n']);
});

test('a check that fails is named and its reason is told at its own page', async () => {
  assert.deepEqual(await ask({ ping: fine, syncloop: broken }), [500, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n']);
  assert.deepEqual(await ask({ syncloop: broken }, 'syncloop'), [500, 'internal server error: sync Loop took longer than expected\n']);
  assert.deepEqual(await ask({ ping: fine }, 'ping'), [200, 'ok']);
  assert.equal((await ask({ ping: fine }, 'other'))[0], 404);
});

test('checks may be left out', async () => {
  assert.deepEqual(await ask({ ping: fine, syncloop: broken }, '', 'exclude=syncloop'), [200, 'ok']);
  const warned = '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n';
  assert.deepEqual(await ask({ ping: fine }, '', 'exclude=x&verbose'), [200, warned]);
});

test('the loop fails when the runtime was not looked at for five minutes, or two periods', async () => {
  const clock = new FakeClock(0);
  let lastAtMs: number | undefined;
  const check = (syncMs: number) => syncLoopCheck(() => lastAtMs, { syncMs, relistMs: 30_000 }, clock);
  const isFine = async (syncMs = 60_000) => (await ask({ syncloop: check(syncMs) }, 'syncloop'))[0] === 200;
  await clock.advance(600_000);
  assert.equal(await isFine(), true, 'it has not begun');
  lastAtMs = clock.now();
  await clock.advance(300_000);
  assert.equal(await isFine(), true);
  await clock.advance(1);
  assert.equal(await isFine(), false);
  assert.equal(await isFine(200_000), true);
});

test('results of checks are numbers too', async () => {
  const registry = new Registry();
  const checks = withHealthMetrics(
    new Map([
      ['ping', fine],
      ['syncloop', broken],
    ]),
    registry,
  );
  await healthAnswer(checks, '', new URLSearchParams());
  await healthAnswer(checks, 'ping', new URLSearchParams());
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubernetes'));
  assert.deepEqual(lines, [
    'kubernetes_healthcheck{name="ping",type="healthz"} 1',
    'kubernetes_healthcheck{name="syncloop",type="healthz"} 0',
    'kubernetes_healthchecks_total{name="ping",type="healthz",status="success"} 2',
    'kubernetes_healthchecks_total{name="syncloop",type="healthz",status="error"} 1',
  ]);
});
