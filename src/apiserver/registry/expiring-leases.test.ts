import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer } from '../testing/in-process-server.ts';

const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, reason: 'R', type: 'Normal' };

test('an event goes by itself after an hour, other objects stay', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const events = '/api/v1/namespaces/default/events';
  assert.equal((await api.call('POST', events, { body: event })).status, 201);
  await clock.advance(3_500_000);
  assert.equal((await api.call('GET', `${events}/e`)).status, 200);
  await clock.advance(200_000);
  assert.equal((await api.call('GET', `${events}/e`)).status, 404);
  assert.equal((await api.call('GET', '/api/v1/namespaces/default')).status, 200);
});
