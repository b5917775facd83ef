import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { aPod } from '#api/testing/objects.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from './api-client.ts';
import { createIndex } from './indexer.ts';
import { createSharedInformers } from './shared-informers.ts';
import { MemoryApi } from './testing/memory-api.ts';
import { settled } from './testing/settled.ts';

const signal = new AbortController().signal;

function sharing(t: { after(action: () => Promise<void>): void }, api: MemoryApi) {
  const informers = createSharedInformers(createClient(api), { clock: new FakeClock(), logger: silentLogger });
  const stop = new AbortController();
  const ended = informers.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    assert.equal(api.openWatches, 0);
  });
  return informers;
}

function pod(name: string, nodeName?: string) {
  return aPod({ metadata: { name, uid: `uid-of-${name}` }, spec: { nodeName } });
}

test('an index follows objects from one property to the next and forgets those that go', async (t) => {
  const api = new MemoryApi();
  const pods = sharing(t, api).of(podKind);
  const index = createIndex(pods, (one) => one.spec?.nodeName);
  const namesOn = (nodeName: string) => index.get(nodeName).map(({ metadata }) => metadata.name);
  for (const one of [pod('a', 'node-1'), pod('b', 'node-1'), pod('c')]) api.put('pods', one);
  await settled();
  assert.deepEqual([namesOn('node-1'), index.properties()], [['a', 'b'], ['node-1']]);
  api.put('pods', pod('a', 'node-2'));
  api.put('pods', pod('c', 'node-2'));
  await settled();
  assert.deepEqual([namesOn('node-1'), namesOn('node-2')], [['b'], ['a', 'c']]);
  await createClient(api).delete(podKind, { namespace: 'default', name: 'b' }, { gracePeriodSeconds: 0 }, signal);
  await settled();
  assert.deepEqual([namesOn('node-1'), index.properties()], [[], ['node-2']]);
  index.close();
  api.put('pods', pod('d', 'node-2'));
  await settled();
  assert.deepEqual(namesOn('node-2'), ['a', 'c']);
});

test('all who want a kind share one informer, those that come later too', async (t) => {
  const api = new MemoryApi();
  const informers = sharing(t, api);
  assert.equal(informers.of(podKind), informers.of(podKind));
  await settled();
  informers.of(nodeKind);
  informers.of(podKind);
  await informers.of(nodeKind).synced(signal);
  await settled();
  assert.deepEqual([...api.requests].sort(), ['GET /api/v1/nodes', 'GET /api/v1/nodes', 'GET /api/v1/pods', 'GET /api/v1/pods']);
});
