import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '#api/kinds/core/v1/config-map.ts';
import { aConfigMap } from '#api/testing/objects.ts';
import type { ConfigMap } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from './api-client.ts';
import { createInformer } from './informer.ts';
import type { ObjectChange } from './informer-port.ts';
import { MemoryApi } from './testing/memory-api.ts';
import { settled } from './testing/settled.ts';

/** An informer of config maps that runs until the test ends, and what its listener was told. */
function running(t: { after(action: () => void): void }, api: MemoryApi) {
  const clock = new FakeClock();
  const informer = createInformer(createClient(api), configMap, {}, { clock, logger: silentLogger, random: () => 0 });
  const seen: string[] = [];
  informer.subscribe((change) => seen.push(described(change)));
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  t.after(() => stop.abort());
  return { informer, seen, clock, stop: () => stop.abort(), ended };
}

function described(change: ObjectChange<ConfigMap>): string {
  const value = (object: ConfigMap) => object.data?.['key'] ?? '';
  const before = change.type === 'updated' ? `${value(change.previous)} -> ` : '';
  return `${change.type} ${change.object.metadata.name} ${before}${value(change.object)}`;
}

function map(name: string, key: string): ConfigMap {
  return aConfigMap({ metadata: { name, uid: `uid-of-${name}` }, data: { key } });
}

test('an informer has what was there and follows what changes', async (t) => {
  const api = new MemoryApi();
  api.put('configmaps', map('a', '1'));
  const { informer, seen } = running(t, api);
  assert.equal(informer.hasSynced, false);
  await informer.synced(new AbortController().signal);
  await settled();
  api.put('configmaps', map('a', '2'));
  api.put('configmaps', map('b', '1'));
  await createClient(api).delete(configMap, { namespace: 'default', name: 'a' }, {}, new AbortController().signal);
  await settled();
  assert.deepEqual(seen, ['added a 1', 'updated a 1 -> 2', 'added b 1', 'deleted a 2']);
  assert.deepEqual(
    informer.list().map((object) => object.metadata.name),
    ['b'],
  );
  assert.ok(Object.isFrozen(informer.get('default/b')?.data));
});

test('a listener that comes late is told what is there, once, before what changes', async (t) => {
  const api = new MemoryApi();
  api.put('configmaps', map('a', '1'));
  const { informer } = running(t, api);
  await settled();
  const seen: string[] = [];
  const unsubscribe = informer.subscribe((change) => seen.push(described(change)));
  assert.deepEqual(seen, []);
  await settled();
  api.put('configmaps', map('a', '2'));
  await settled();
  unsubscribe();
  api.put('configmaps', map('a', '3'));
  await settled();
  assert.deepEqual(seen, ['added a 1', 'updated a 1 -> 2']);
});

test('a watch that ends goes on from its revision without a list, and nothing is missed or told twice', async (t) => {
  const api = new MemoryApi();
  const { seen } = running(t, api);
  await settled();
  api.dropWatches();
  api.put('configmaps', map('a', '1'));
  await settled();
  assert.deepEqual(seen, ['added a 1']);
  assert.equal(api.requests.length, 3, api.requests.join(', ')); // list, watch, watch
});

test('a bookmark keeps a quiet watch young: the history before it may go', async (t) => {
  const api = new MemoryApi();
  const { seen } = running(t, api);
  await settled();
  api.put('secrets', map('unrelated', '1'));
  api.bookmark();
  await settled();
  api.compact();
  api.dropWatches();
  api.put('configmaps', map('a', '1'));
  await settled();
  assert.deepEqual(seen, ['added a 1']);
  assert.equal(api.requests.length, 3, api.requests.join(', ')); // list, watch, watch
});

test('when the history is gone the list is read again: what vanished is deleted, what was made anew is another object', async (t) => {
  const api = new MemoryApi();
  for (const name of ['changed', 'kept', 'replaced', 'vanished']) api.put('configmaps', map(name, '1'));
  const { seen, clock } = running(t, api);
  await settled();
  seen.length = 0;
  api.setUnreachable(true);
  await settled();
  api.setUnreachable(false);
  api.put('configmaps', map('changed', '2'));
  api.put('configmaps', { ...map('replaced', '2'), metadata: { ...map('replaced', '2').metadata, uid: 'another' } });
  await createClient(api).delete(configMap, { namespace: 'default', name: 'vanished' }, {}, new AbortController().signal);
  api.compact();
  await clock.advance(2000);
  await settled();
  assert.deepEqual([...seen].sort(), ['added replaced 2', 'deleted replaced 1', 'deleted vanished 1', 'updated changed 1 -> 2']);
  assert.ok(seen.indexOf('deleted replaced 1') < seen.indexOf('added replaced 2'));
});

test('a server that cannot be reached is asked less and less often', async (t) => {
  const api = new MemoryApi();
  api.setUnreachable(true);
  const { informer, clock } = running(t, api);
  const askedAtMs: number[] = [];
  for (let ms = 0; ms <= 3200; ms += 100) {
    await settled();
    while (askedAtMs.length < api.requests.length) askedAtMs.push(ms);
    await clock.advance(100);
  }
  assert.deepEqual(askedAtMs, [0, 100, 300, 700, 1500, 3100]);
  api.setUnreachable(false);
  await clock.advance(5000);
  await informer.synced(new AbortController().signal);
});

test('a listener that throws costs nobody else a change', async (t) => {
  const api = new MemoryApi();
  const { informer, seen } = running(t, api);
  informer.subscribe(() => {
    throw new Error('a bug');
  });
  await settled();
  api.put('configmaps', map('a', '1'));
  api.put('configmaps', map('a', '2'));
  await settled();
  assert.deepEqual(seen, ['added a 1', 'updated a 1 -> 2']);
});

test('an informer ends with its signal and leaves no watch open', async (t) => {
  const api = new MemoryApi();
  const { stop, ended } = running(t, api);
  await settled();
  assert.equal(api.openWatches, 1);
  stop();
  await ended;
  assert.equal(api.openWatches, 0);
});

test('an informer keeps of an object what it is told to, also of the last state', async (t) => {
  const api = new MemoryApi();
  api.put('configmaps', map('a', '1'));
  const keep = ({ data: _, ...kept }: ConfigMap): ConfigMap => kept;
  const informer = createInformer(createClient(api), configMap, { keep }, { clock: new FakeClock(), logger: silentLogger });
  const told: unknown[] = [];
  informer.subscribe(({ type, object }) => told.push([type, object.data]));
  const stop = new AbortController();
  t.after(() => stop.abort());
  void informer.run(stop.signal);
  await informer.synced(stop.signal);
  await settled();
  await createClient(api).delete(configMap, { namespace: 'default', name: 'a' }, {}, stop.signal);
  await settled();
  assert.deepEqual(told, [
    ['added', undefined],
    ['deleted', undefined],
  ]);
});
