import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer, take } from '../testing/in-process-server.ts';

const core = '/api/v1/namespaces/default/events';
const newer = '/apis/events.k8s.io/v1/namespaces/default/events';
const aNewEvent = {
  metadata: { name: 'a', labels: { app: 'x' } },
  eventTime: '2030-01-01T00:00:00.000000Z',
  reportingController: 'example.com/tester',
  reportingInstance: 'tester-1',
  action: 'Testing',
  reason: 'Tested',
  note: 'all is well',
  type: 'Normal',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
};
const anOldEvent = {
  metadata: { name: 'b' },
  involvedObject: { kind: 'Node', name: 'n' },
  reason: 'Seen',
  message: 'it is there',
  type: 'Warning',
  count: 3,
};

test('what one version writes is read in the other under the same revision, uid and key', async () => {
  await using api = await inProcessServer();
  const { status, body: created } = await api.call('POST', newer, { body: aNewEvent });
  assert.deepEqual([status, created.apiVersion, created.note], [201, 'events.k8s.io/v1', 'all is well']);
  const { body: read } = await api.call('GET', `${core}/a`);
  assert.deepEqual([read.apiVersion, read.message, read.reportingComponent], ['v1', 'all is well', 'example.com/tester']);
  assert.deepEqual([read.involvedObject, read.metadata], [aNewEvent.regarding, created.metadata]);
  await api.call('POST', core, { body: anOldEvent });
  const { body: list } = await api.call('GET', newer);
  assert.deepEqual([list.kind, list.apiVersion], ['EventList', 'events.k8s.io/v1']);
  const [, old] = list.items;
  assert.deepEqual([old.kind, old.note, old.deprecatedCount, old.regarding.kind, old.message], [undefined, 'it is there', 3, 'Node', undefined]);
  const stored = await api.storage.range('/registry/events/default/', { revision: 0, limit: 0, after: '' }, new AbortController().signal);
  assert.deepEqual(
    stored.entries.map(({ value }) => JSON.parse(Buffer.from(value).toString()).apiVersion),
    ['v1', 'v1'],
  );
});

test('watches of both versions see every change once, with the same revisions, now and from the past', async () => {
  await using api = await inProcessServer();
  const { body: before } = await api.call('GET', newer);
  const since = `watch=1&resourceVersion=${before.metadata.resourceVersion}`;
  using both = new Watching();
  const live = [api.watch(`${core}?${since}`, both.signal), api.watch(`${newer}?${since}`, both.signal), api.watch(`${newer}?${since}`, both.signal)];
  const taken = live.map((events) => take(events, 4));
  await api.call('POST', newer, { body: aNewEvent });
  await api.call('POST', core, { body: anOldEvent });
  await api.call('PATCH', `${newer}/a`, {
    body: { metadata: { labels: { app: 'y' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await api.call('DELETE', `${newer}/b`);
  const [ofCore = [], ofNewer = [], again = []] = await Promise.all(taken);
  const shape = ({ type, object }: (typeof ofCore)[number]) => [type, object.metadata.name, object.metadata.resourceVersion];
  assert.deepEqual(ofNewer.map(shape), ofCore.map(shape));
  assert.deepEqual(
    ofCore.map(({ type, object }) => `${type} ${object.metadata.name} ${object.apiVersion} ${object.message}`),
    ['ADDED a v1 all is well', 'ADDED b v1 it is there', 'MODIFIED a v1 all is well', 'DELETED b v1 it is there'],
  );
  assert.deepEqual(new Set(ofNewer.map(({ object }) => object.apiVersion)), new Set(['events.k8s.io/v1']));
  assert.deepEqual(again, ofNewer);
  const late = await take(api.watch(`${newer}?${since}`, both.signal), 4);
  assert.deepEqual(late, ofNewer);
});

test('selectors are those of the version that is asked; deletecollection takes what its list shows', async () => {
  await using api = await inProcessServer();
  await api.call('POST', newer, { body: aNewEvent });
  await api.call('POST', core, { body: anOldEvent });
  const names = async (query: string) => (await api.call('GET', query)).body.items.map((item: typeof anOldEvent) => item.metadata.name);
  assert.deepEqual(await names(`${newer}?fieldSelector=regarding.kind%3DPod,reportingController%3Dexample.com/tester`), ['a']);
  assert.deepEqual(await names(`${core}?fieldSelector=involvedObject.kind%3DNode`), ['b']);
  assert.deepEqual(await names('/apis/events.k8s.io/v1/events?labelSelector=app%3Dx'), ['a']);
  const refused = await api.call('GET', `${newer}?fieldSelector=involvedObject.kind%3DPod`);
  assert.deepEqual([refused.status, refused.body.message], [400, 'field label not supported: involvedObject.kind']);
  const { body: deleted } = await api.call('DELETE', `${newer}?fieldSelector=regarding.kind%3DNode`);
  assert.deepEqual([deleted.apiVersion, deleted.items.length, deleted.items[0].note], ['events.k8s.io/v1', 1, 'it is there']);
  assert.deepEqual(await names(core), ['a']);
});

test('a watch with a field selector follows what begins and ends to match in its version', async () => {
  await using api = await inProcessServer();
  await api.call('POST', core, { body: anOldEvent });
  using watching = new Watching();
  const events = api.watch(`${newer}?watch=1&fieldSelector=type%3DWarning`, watching.signal);
  const taken = take(events, 3);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await api.call('PATCH', `${core}/b`, { body: { type: 'Normal' }, headers });
  const { body: last } = await api.call('PATCH', `${core}/b`, { body: { type: 'Warning' }, headers });
  const seen = await taken;
  assert.deepEqual(
    seen.map(({ type, object }) => [type, object.type]),
    [
      ['ADDED', 'Warning'],
      ['DELETED', 'Warning'],
      ['ADDED', 'Warning'],
    ],
  );
  assert.equal(seen.at(-1)?.object.metadata.resourceVersion, last.metadata.resourceVersion);
});

test('pages, exact reads of the past and dry runs are of the version that is asked', async () => {
  await using api = await inProcessServer();
  const { body: created } = await api.call('POST', newer, { body: aNewEvent });
  await api.call('POST', core, { body: anOldEvent });
  const { body: first } = await api.call('GET', `${newer}?limit=1`);
  const { body: ofCore } = await api.call('GET', `${core}?limit=1`);
  const { body: second } = await api.call('GET', `${newer}?limit=1&continue=${first.metadata.continue}`);
  assert.deepEqual([first.items[0].note, ofCore.items[0].message, second.items[0].note], ['all is well', 'all is well', 'it is there']);
  const { body: then } = await api.call('GET', `${newer}?resourceVersionMatch=Exact&resourceVersion=${created.metadata.resourceVersion}`);
  assert.deepEqual([then.items.length, then.items[0].note], [1, 'all is well']);
  const { status, body: tried } = await api.call('POST', `${newer}?dryRun=All`, { body: { ...aNewEvent, metadata: { name: 'c' } } });
  assert.deepEqual([status, tried.apiVersion, tried.note], [201, 'events.k8s.io/v1', 'all is well']);
});

test('discovery names one storage of both versions', async () => {
  await using api = await inProcessServer();
  const hashIn = async (url: string) => {
    const { body } = await api.call('GET', url);
    return body.resources.find(({ name }: { readonly name: string }) => name === 'events').storageVersionHash;
  };
  assert.deepEqual([await hashIn('/api/v1'), await hashIn('/apis/events.k8s.io/v1')], ['r2yiGXH7wu8=', 'r2yiGXH7wu8=']);
});

class Watching extends AbortController implements Disposable {
  [Symbol.dispose](): void {
    this.abort();
  }
}
