import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConfigMap, aSecret } from '#api/testing/objects.ts';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { settled } from '#client/testing/settled.ts';
import { createObjects } from './objects.ts';

const { signal } = new AbortController();

function open(t: { after(undo: () => Promise<void>): void }) {
  const api = new MemoryApi();
  const clock = new FakeClock();
  const objects = createObjects({ client: createClient(api), clock, logger: silentLogger });
  t.after(async () => objects[Symbol.asyncDispose]());
  return { api, clock, objects };
}

test('the first read costs one request, later reads none, and see changes', async (t) => {
  const { api, objects } = open(t);
  api.put('configmaps', aConfigMap({ data: { key: 'one' } }));
  api.put('configmaps', aConfigMap({ metadata: { name: 'other' } }));
  assert.deepEqual((await objects.configMap('default', 'settings', signal))?.data, { key: 'one' });
  await settled();
  assert.deepEqual(api.requests, ['GET /api/v1/namespaces/default/configmaps', 'GET /api/v1/namespaces/default/configmaps']);
  api.put('configmaps', aConfigMap({ data: { key: 'two' } }));
  await settled();
  assert.deepEqual((await objects.configMap('default', 'settings', signal))?.data, { key: 'two' });
  assert.equal(api.requests.length, 2);
});

test('an object that is not there is undefined, and its coming is told', async (t) => {
  const { api, objects } = open(t);
  let told = 0;
  const forget = objects.watch('secret/default/secret', () => {
    told += 1;
  });
  assert.equal(await objects.secret('default', 'secret', signal), undefined);
  assert.equal(told, 0);
  api.put('secrets', aSecret());
  await settled();
  assert.equal(told, 1);
  assert.equal((await objects.secret('default', 'secret', signal))?.metadata.name, 'secret');
  forget();
  api.put('secrets', aSecret({ data: {} }));
  await settled();
  assert.equal(told, 1);
});

test('what nobody wants any more is let go, what is watched is not', async (t) => {
  const { api, clock, objects } = open(t);
  const forget = objects.watch('configmap/default/settings', () => undefined);
  await objects.configMap('default', 'settings', signal);
  await settled();
  await clock.advance(600_000);
  assert.equal(api.openWatches, 1);
  forget();
  await clock.advance(59_000);
  await settled();
  assert.equal(api.openWatches, 1);
  await clock.advance(1000);
  await settled();
  assert.equal(api.openWatches, 0);
  api.put('configmaps', aConfigMap());
  assert.equal((await objects.configMap('default', 'settings', signal))?.metadata.name, 'settings');
});

test('an immutable object is not watched', async (t) => {
  const { api, objects } = open(t);
  api.put('configmaps', { ...aConfigMap(), immutable: true });
  await objects.configMap('default', 'settings', signal);
  await settled();
  assert.equal(api.openWatches, 0);
  assert.equal((await objects.configMap('default', 'settings', signal))?.immutable, true);
  assert.equal(api.requests.length, 1);
});

test('a server that does not answer is said so after a second', async (t) => {
  const { api, clock, objects } = open(t);
  api.setUnreachable(true);
  const read = objects.configMap('default', 'settings', signal);
  const refused = assert.rejects(
    read,
    (error) => error instanceof Unavailable && error.message === 'failed to sync configmap cache: timed out waiting for the condition',
  );
  await clock.advance(1000);
  await refused;
});
