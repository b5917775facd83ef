import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer } from '../testing/in-process-server.ts';

const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, reason: 'R', type: 'Normal' };

const newer = {
  metadata: { name: 'n' },
  ...{ eventTime: '2030-01-01T00:00:00.000000Z', reportingController: 'tester', reportingInstance: 't-1', action: 'A', reason: 'R', type: 'Normal' },
};

test('an event of either group goes by itself after an hour, other objects stay', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const events = '/api/v1/namespaces/default/events';
  assert.equal((await api.call('POST', events, { body: event })).status, 201);
  assert.equal((await api.call('POST', '/apis/events.k8s.io/v1/namespaces/default/events', { body: newer })).status, 201);
  const statuses = () => Promise.all(['e', 'n'].map(async (name) => (await api.call('GET', `${events}/${name}`)).status));
  await clock.advance(3_500_000);
  assert.deepEqual(await statuses(), [200, 200]);
  await clock.advance(200_000);
  assert.deepEqual(await statuses(), [404, 404]);
  assert.equal((await api.call('GET', '/api/v1/namespaces/default')).status, 200);
});
