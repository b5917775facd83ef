import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthCheck, healthAnswer } from './health.ts';

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
