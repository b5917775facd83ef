import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer, take } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('given a stored object, when PUT sends byte-equivalent content (same RV), then 200, same RV, no watch event', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const { body: made } = await api.call('POST', configMaps, { body: { metadata: { name: 'a' }, data: { k: 'v' } } });
  const watching = take(
    api.watch(`${configMaps}?watch=1&timeoutSeconds=30&resourceVersion=${made.metadata.resourceVersion}`, new AbortController().signal),
    10,
  );
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(5_000); // a time of its own in managedFields would be a change
  for (let again = 0; again < 2; again++) {
    const { status, body } = await api.call('PUT', `${configMaps}/a`, { body: made });
    assert.deepEqual([status, body], [200, made]);
  }
  const { metadata } = (await api.call('PUT', `${configMaps}/a`, { body: { ...made, data: { k: 'w' } } })).body;
  assert.notEqual(metadata.resourceVersion, made.metadata.resourceVersion);
  await clock.advance(30_000);
  assert.deepEqual(
    (await watching).map(({ type, object }) => [type, object.data.k]),
    [['MODIFIED', 'w']],
  );
});
