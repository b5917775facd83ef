import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import { ServerLeases } from './server-leases.ts';

const { signal } = new AbortController();

function twoServers() {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const storage = createMemoryStorage(clock);
  return { clock, storage, one: new ServerLeases(storage, '10.0.0.1'), two: new ServerLeases(storage, '10.0.0.2') };
}

test('servers of a store know each other until one of them ends', async () => {
  const { storage, one, two } = twoServers();
  assert.deepEqual(await two.renew(signal), ['10.0.0.2']);
  assert.deepEqual(await one.renew(signal), ['10.0.0.1', '10.0.0.2']);
  await two.release(signal);
  await two.release(signal);
  assert.deepEqual(await one.renew(signal), ['10.0.0.1']);
  await storage.close();
});

test('a server that dies is forgotten, one that was only stopped for a while comes back', async () => {
  const { clock, storage, one, two } = twoServers();
  await two.renew(signal);
  await one.renew(signal);
  await clock.advance(10_000);
  assert.deepEqual(await one.renew(signal), ['10.0.0.1', '10.0.0.2']);
  await clock.advance(10_000);
  assert.deepEqual(await one.renew(signal), ['10.0.0.1']);
  assert.deepEqual(await two.renew(signal), ['10.0.0.1', '10.0.0.2']);
  await storage.close();
});

test('a server that is started again at the same address holds what its earlier run left', async () => {
  const { clock, storage, one } = twoServers();
  await one.renew(signal);
  const again = new ServerLeases(storage, '10.0.0.1');
  await again.renew(signal);
  await clock.advance(10_000);
  await again.renew(signal);
  await clock.advance(10_000);
  assert.deepEqual(await new ServerLeases(storage, '10.0.0.9').renew(signal), ['10.0.0.1', '10.0.0.9']);
  await storage.close();
});

test('who follows is told of every coming and going', async () => {
  const { storage, one, two } = twoServers();
  const stop = new AbortController();
  let count = 0;
  const following = one.follow(() => count++, stop.signal);
  await two.renew(signal);
  await two.release(signal);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(count, 2);
  stop.abort();
  await following;
  await storage.close();
});
