import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer, take, type WatchLine } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

const create = async (api: InProcessServer, name: string): Promise<string> =>
  (await api.call('POST', configMaps, { body: { metadata: { name } } })).body.metadata.resourceVersion;
const revisionOf = async (api: InProcessServer): Promise<number> => Number((await api.call('GET', configMaps)).body.metadata.resourceVersion);
const shown = (lines: readonly WatchLine[]) => lines.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());

/** What a watch of half a minute tells while something happens. */
async function during(api: InProcessServer, clock: FakeClock, query: string, act: () => Promise<unknown>): Promise<readonly WatchLine[]> {
  const lines = take(api.watch(`${configMaps}?watch=1&timeoutSeconds=30&${query}`, never), 100);
  await turn();
  await act();
  await clock.advance(30_000);
  return lines;
}

test('given watch RV=0 legacy, then synthetic ADDED for existing objects (order by key), then changes; RV unset same', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  for (const name of ['b', 'a']) await create(api, name);
  for (const query of ['', 'resourceVersion=0']) {
    const lines = await during(api, clock, query, () => api.call('PATCH', `${configMaps}/a`, { body: { data: { query } }, headers: merge }));
    assert.deepEqual(shown(lines), ['ADDED a', 'ADDED b', 'MODIFIED a']);
  }
});

test('a watch from a number tells what came after it and no initial state', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const first = await create(api, 'a');
  await create(api, 'b');
  assert.deepEqual(shown(await during(api, clock, `resourceVersion=${first}`, () => create(api, 'c'))), ['ADDED b', 'ADDED c']);
});

test('sendInitialEvents: the state, exactly one bookmark at its end, then changes; without bookmarks no mark', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await create(api, 'a');
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const marked = await during(api, clock, `${initial}&allowWatchBookmarks=true`, () => create(api, 'b'));
  assert.deepEqual(shown(marked), ['ADDED a', 'BOOKMARK', 'ADDED b', 'BOOKMARK']);
  const { object: mark } = marked[1] ?? { object: undefined };
  assert.deepEqual([mark.kind, mark.apiVersion, mark.metadata.annotations], ['ConfigMap', 'v1', { 'k8s.io/initial-events-end': 'true' }]);
  assert.ok(Number(mark.metadata.resourceVersion) >= Number(marked[0]?.object.metadata.resourceVersion));
  assert.deepEqual(shown(await during(api, clock, initial, () => create(api, 'c'))), ['ADDED a', 'ADDED b', 'ADDED c']);
  const now = await during(api, clock, 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan', () => create(api, 'd'));
  assert.deepEqual(shown(now), ['ADDED d']);
});

test('given allowWatchBookmarks without sendInitialEvents, then no `k8s.io/initial-events-end` annotation ever', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await create(api, 'a');
  const lines = await during(api, clock, 'allowWatchBookmarks=true', () => create(api, 'b'));
  assert.deepEqual(shown(lines), ['ADDED a', 'ADDED b', 'BOOKMARK']);
  assert.ok(lines.every(({ object }) => object.metadata.annotations === undefined));
});

test('bookmarks come every minute and two seconds before the end, at the revision of the whole server, to those who ask', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await create(api, 'a');
  const asks = take(api.watch(`${configMaps}?watch=1&timeoutSeconds=150&allowWatchBookmarks=true`, never), 100);
  const asksNot = take(api.watch(`${configMaps}?watch=1&timeoutSeconds=150`, never), 100);
  await turn();
  const at: number[] = [];
  for (let second = 10; second <= 150; second += 10) {
    await api.call('POST', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: `s${second}` } } });
    at.push(await revisionOf(api));
    await clock.advance(10_000);
  }
  const bookmarks = (await asks).filter(({ type }) => type === 'BOOKMARK').map(({ object }) => Number(object.metadata.resourceVersion));
  assert.deepEqual(bookmarks, [at[5], at[11], at[14]]); // 60 s, 120 s, 148 s
  assert.deepEqual(shown(await asksNot), ['ADDED a']);
});

test('given a watch from an expired RV, then HTTP 200 and one ERROR event with code 410 reason Expired, then EOF', async () => {
  await using first = await inProcessServer();
  const old = await create(first, 'a');
  const newest = await create(first, 'b');
  // A server that starts now knows nothing of what was before.
  await using api = await inProcessServer({ storage: first.storage });
  const lines = await take(api.watch(`${configMaps}?watch=1&resourceVersion=${old}`, never), 100);
  const { message, ...status } = lines[0]?.object ?? {};
  assert.deepEqual([lines.length, lines[0]?.type], [1, 'ERROR']);
  assert.deepEqual(status, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Expired', code: 410 });
  assert.match(message, new RegExp(`^too old resource version: ${old} \\(\\d+\\)$`));
  assert.ok(Number(newest) > Number(old));
});

test('a watch of the future is silent until then; with sendInitialEvents its stream says after 3 s that it is too far', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const last = Number(await create(api, 'a'));
  const lines = await during(api, clock, `resourceVersion=${last + 1}&allowWatchBookmarks=true`, async () => {
    for (const name of ['b', 'c']) await create(api, name);
  });
  assert.deepEqual(shown(lines), ['ADDED c', 'BOOKMARK']);
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9999';
  const [refusal, ...more] = await during(api, clock, query, async () => undefined);
  assert.deepEqual(
    [refusal?.type, refusal?.object.code, refusal?.object.details.causes[0].reason, more],
    ['ERROR', 504, 'ResourceVersionTooLarge', []],
  );
});

test('given a watch on `app=a`, when a label changes to `app=b`, then DELETED with the object still labelled `app=a` and the new RV; back: ADDED', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const label = async (app: string): Promise<string> =>
    (await api.call('PATCH', `${configMaps}/x`, { body: { metadata: { labels: { app } } }, headers: merge })).body.metadata.resourceVersion;
  await create(api, 'x');
  await label('a');
  let left = '';
  const lines = await during(api, clock, 'labelSelector=app%3Da', async () => {
    left = await label('b');
    await api.call('PATCH', `${configMaps}/x`, { body: { data: { unseen: 'yes' } }, headers: merge });
    await label('a');
  });
  assert.deepEqual(
    lines.map(({ type, object }) => [type, object.metadata.labels.app, object.data]),
    [
      ['ADDED', 'a', undefined],
      ['DELETED', 'a', undefined],
      ['ADDED', 'a', { unseen: 'yes' }],
    ],
  );
  assert.equal(lines[1]?.object.metadata.resourceVersion, left);
});

test('a deletion has a revision of its own, and one that does not match is nobody’s', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const created = await create(api, 'x');
  let after = 0;
  const act = async () => {
    await api.call('DELETE', `${configMaps}/x`);
    after = await revisionOf(api);
    await create(api, 'y');
    await api.call('DELETE', `${configMaps}/y`);
  };
  const lines = await during(api, clock, 'fieldSelector=metadata.name%3Dx', act);
  assert.deepEqual(shown(lines), ['ADDED x', 'DELETED x']);
  assert.deepEqual(
    [lines[0], lines[1]].map((line) => line?.object.metadata.resourceVersion),
    [created, String(after)],
  );
});

test('the old form of a watch: by path, for one name, never against its selector', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  for (const name of ['a', 'b']) await create(api, name);
  const of = async (path: string) => {
    const lines = take(api.watch(`/api/v1/watch/${path}`, never), 100);
    await turn();
    await clock.advance(1000);
    return shown(await lines);
  };
  assert.deepEqual(await of('namespaces/default/configmaps?timeoutSeconds=1'), ['ADDED a', 'ADDED b']);
  assert.deepEqual(await of('configmaps?timeoutSeconds=1'), ['ADDED a', 'ADDED b']);
  assert.deepEqual(await of('namespaces/default/configmaps/b?timeoutSeconds=1'), ['ADDED b']);
  assert.deepEqual(await of('namespaces/default/configmaps/none?timeoutSeconds=1'), []);
  const { status, body } = await api.call('GET', '/api/v1/watch/namespaces/default/configmaps/b?fieldSelector=metadata.name%3Da');
  assert.deepEqual([status, body.message], [400, "fieldSelector metadata.name doesn't match requested name"]);
});

test('a GET of one object with ?watch=true is no watch', async () => {
  await using api = await inProcessServer();
  await create(api, 'a');
  assert.equal((await api.call('GET', `${configMaps}/a?watch=true`)).body.kind, 'ConfigMap');
  for (const no of ['false', '0', 'False']) assert.equal((await api.call('GET', `${configMaps}?watch=${no}`)).body.kind, 'ConfigMapList');
});

const problems: readonly (readonly [query: string, code: number, message: string])[] = [
  [
    'sendInitialEvents=true',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  ],
  [
    'resourceVersionMatch=NotOlderThan&resourceVersion=1',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
  [
    'resourceVersionMatch=Exact&sendInitialEvents=true&resourceVersion=1',
    422,
    'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
  ],
  ['timeoutSeconds=-1', 400, 'timeoutSeconds must not be negative'],
  ['timeoutSeconds=soon', 400, 'strconv.ParseInt: parsing "soon": invalid syntax'],
  ['fieldSelector=spec.x%3D1', 400, '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
];
for (const [query, code, message] of problems) {
  test(`a watch with ${query} is refused before it begins`, async () => {
    await using api = await inProcessServer();
    const { status, body } = await api.call('GET', `${configMaps}?watch=true&${query}`);
    assert.deepEqual([status, body.message], [code, message]);
  });
}

test('a watcher that does not read is cut off; whoever goes on from its last revision misses nothing', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  await create(api, 'a');
  const slow = api.watch(`${configMaps}?watch=1`, never);
  let last = (await slow.next()).value?.object.metadata.resourceVersion;
  const large = 'x'.repeat(900_000);
  for (let index = 0; index < 40; index++) {
    await api.call('PATCH', `${configMaps}/a`, { body: { data: { large, index: String(index) } }, headers: merge });
  }
  const seen: string[] = [];
  for await (const { object } of slow) {
    seen.push(object.data.index);
    last = object.metadata.resourceVersion;
  }
  assert.ok(seen.length < 40, 'the stream ended before all was sent');
  const rest = await during(api, clock, `resourceVersion=${last}`, async () => undefined);
  assert.deepEqual(
    [...seen, ...rest.map(({ object }) => object.data.index)],
    Array.from({ length: 40 }, (_, index) => String(index)),
  );
});

test('all watchers of one form get the same bytes, whatever their selectors are', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const queries = ['', 'fieldSelector=metadata.name%3Da', 'resourceVersion=0'];
  const watching = queries.map((query) => take(api.watch(`${configMaps}?watch=1&timeoutSeconds=30&${query}`, never), 100));
  await turn();
  await create(api, 'a');
  await api.call('DELETE', `${configMaps}/a`);
  await clock.advance(30_000);
  const [first, ...others] = await Promise.all(watching);
  assert.equal(first?.length, 2);
  for (const other of others) assert.deepEqual(other, first);
});
