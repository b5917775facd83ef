import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type InProcessServer, inProcessServer, take } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const never = new AbortController().signal;
const merge = { 'content-type': 'application/merge-patch+json' };

interface Named {
  readonly metadata: { readonly name: string };
}
const names = (list: { readonly items: readonly Named[] }) => list.items.map(({ metadata }) => metadata.name);

async function withConfigMaps(count: number, options: Parameters<typeof inProcessServer>[0] = {}, clock?: FakeClock): Promise<InProcessServer> {
  const api = await inProcessServer(options, clock);
  for (let index = 0; index < count; index++) {
    await api.call('POST', configMaps, { body: { metadata: { name: `c${index}`, labels: { even: String(index % 2 === 0) } } } });
  }
  return api;
}

test('a list has its revision, its items in order, and no kind in each', async () => {
  await using api = await withConfigMaps(0);
  const empty = await api.call('GET', configMaps);
  assert.deepEqual([empty.body.kind, empty.body.apiVersion, empty.body.items], ['ConfigMapList', 'v1', []]);
  await api.call('POST', configMaps, { body: { metadata: { name: 'b' } } });
  const { body: last } = await api.call('POST', configMaps, { body: { metadata: { name: 'a' } } });
  const { body } = await api.call('GET', configMaps);
  assert.deepEqual([names(body), body.metadata, body.items[0].kind], [['a', 'b'], { resourceVersion: last.metadata.resourceVersion }, undefined]);
});

test('selectors narrow a list; a field that a kind does not have is refused', async () => {
  await using api = await withConfigMaps(4);
  assert.deepEqual(names((await api.call('GET', `${configMaps}?labelSelector=even%3Dtrue`)).body), ['c0', 'c2']);
  assert.deepEqual(names((await api.call('GET', `${configMaps}?fieldSelector=metadata.name%3Dc1`)).body), ['c1']);
  assert.deepEqual(names((await api.call('GET', '/api/v1/configmaps?fieldSelector=metadata.namespace!%3Ddefault')).body), []);
  const { status, body } = await api.call('GET', `${configMaps}?fieldSelector=data.x%3D1`);
  assert.deepEqual([status, body.message], [400, '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"']);
});

test('pages of a list are of one state, whatever is written meanwhile', async () => {
  await using api = await withConfigMaps(5);
  const first = await api.call('GET', `${configMaps}?limit=2`);
  assert.deepEqual([names(first.body), first.body.metadata.remainingItemCount], [['c0', 'c1'], 3]);
  await api.call('POST', configMaps, { body: { metadata: { name: 'c1x' } } });
  await api.call('DELETE', `${configMaps}/c3`);
  const second = await api.call('GET', `${configMaps}?limit=2&continue=${first.body.metadata.continue}`);
  assert.deepEqual([names(second.body), second.body.metadata.resourceVersion], [['c2', 'c3'], first.body.metadata.resourceVersion]);
  const third = await api.call('GET', `${configMaps}?limit=2&continue=${second.body.metadata.continue}`);
  assert.deepEqual([names(third.body), third.body.metadata.continue], [['c4'], undefined]);
  const selected = await api.call('GET', `${configMaps}?limit=1&labelSelector=even%3Dtrue`);
  assert.deepEqual([names(selected.body), selected.body.metadata.remainingItemCount], [['c0'], undefined]);
  const exact = await api.call('GET', `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${first.body.metadata.resourceVersion}`);
  assert.deepEqual(names(exact.body), ['c0', 'c1', 'c2', 'c3', 'c4']);
});

test('a page whose state is forgotten is refused with a token that goes on all the same', async () => {
  await using api = await withConfigMaps(3);
  const { body: first } = await api.call('GET', `${configMaps}?limit=1`);
  const revision = Number(first.metadata.resourceVersion);
  const { body: other } = await api.call('POST', configMaps, { body: { metadata: { name: 'd' } } });
  await api.storage.compact(Number(other.metadata.resourceVersion), never);
  const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision - 1, start: 'default/c0\0' })).toString('base64url');
  const late = await api.call('GET', `${configMaps}?limit=1&continue=${token}`);
  assert.deepEqual([late.status, late.body.reason], [410, 'Expired']);
  assert.match(late.body.message, /^The provided continue parameter is too old to display a consistent list result\./);
  const going = await api.call('GET', `${configMaps}?continue=${late.body.metadata.continue}`);
  assert.deepEqual(names(going.body), ['c1', 'c2', 'd']);
  assert.equal((await api.call('GET', `${configMaps}?continue=x`)).status, 400);
});

test('a state that is yet to come is waited for, three seconds at most', async () => {
  const clock = new FakeClock();
  await using api = await withConfigMaps(1, {}, clock);
  const { body } = await api.call('GET', configMaps);
  const next = Number(body.metadata.resourceVersion) + 1;
  const waiting = api.call('GET', `${configMaps}/c0?resourceVersion=${next}`);
  await api.call('POST', configMaps, { body: { metadata: { name: 'x' } } });
  assert.equal((await waiting).status, 200);
  const late = api.call('GET', `${configMaps}?resourceVersion=999`);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(3_000);
  const { status, headers, body: refusal } = await late;
  assert.deepEqual(
    [status, headers['retry-after'], refusal.message, refusal.details.causes[0].reason],
    [504, '1', `Timeout: Too large resource version: 999, current: ${next}`, 'ResourceVersionTooLarge'],
  );
});

test('rules of revisions and matches are told in upstream words', async () => {
  await using api = await withConfigMaps(0);
  const messageOf = async (query: string) => (await api.call('GET', `${configMaps}?${query}`)).body.message;
  const invalid = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ';
  assert.equal(await messageOf('resourceVersionMatch=Exact'), `${invalid}resourceVersionMatch is forbidden unless resourceVersion is provided`);
  assert.equal(
    await messageOf('resourceVersionMatch=Exact&resourceVersion=0'),
    `${invalid}resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
  );
  assert.equal(
    await messageOf('watch=1&sendInitialEvents=true'),
    `${invalid}sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
  );
  assert.match(await messageOf('resourceVersion=abc'), /^invalid resource version: resourceVersion: Invalid value: "abc"/);
});

test('a watch shows what there is, then each change in order', async () => {
  await using api = await withConfigMaps(1);
  const stop = new AbortController();
  const events = api.watch(`${configMaps}?watch=true`, stop.signal);
  const seen = take(events, 4);
  await new Promise((resolve) => setImmediate(resolve));
  await api.call('POST', configMaps, { body: { metadata: { name: 'd' } } });
  await api.call('PATCH', `${configMaps}/d`, { body: { data: { k: 'v' } }, headers: merge });
  await api.call('DELETE', `${configMaps}/d`);
  const lines = await seen;
  assert.deepEqual(
    lines.map(({ type, object }) => [type, object.kind, object.metadata.name, object.data]),
    [
      ['ADDED', 'ConfigMap', 'c0', undefined],
      ['ADDED', 'ConfigMap', 'd', undefined],
      ['MODIFIED', 'ConfigMap', 'd', { k: 'v' }],
      ['DELETED', 'ConfigMap', 'd', { k: 'v' }],
    ],
  );
  const revisions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
  assert.deepEqual(
    revisions,
    [...revisions].sort((a, b) => a - b),
  );
  stop.abort();
});

test('an object that comes to match a selector is new to its watcher, one that no longer does is deleted in its last matching state', async () => {
  await using api = await withConfigMaps(0);
  const label = (app: string) => api.call('PATCH', `${configMaps}/a`, { body: { metadata: { labels: { app } } }, headers: merge });
  const { body } = await api.call('POST', configMaps, { body: { metadata: { name: 'a', labels: { app: 'b' } } } });
  const stop = new AbortController();
  const seen = take(api.watch(`${configMaps}?watch=1&labelSelector=app%3Da&resourceVersion=${body.metadata.resourceVersion}`, stop.signal), 3);
  await new Promise((resolve) => setImmediate(resolve));
  await label('a');
  await api.call('PATCH', `${configMaps}/a`, { body: { data: { k: 'v' } }, headers: merge });
  const { body: left } = await label('b');
  await api.call('DELETE', `${configMaps}/a`);
  const lines = await seen;
  assert.deepEqual(
    lines.map(({ type, object }) => [type, object.metadata.labels.app]),
    [
      ['ADDED', 'a'],
      ['MODIFIED', 'a'],
      ['DELETED', 'a'],
    ],
  );
  assert.equal(lines[2]?.object.metadata.resourceVersion, left.metadata.resourceVersion);
  stop.abort();
});

test('a watch from a revision replays what came after it; from before the history it ends with 410', async () => {
  await using api = await withConfigMaps(3);
  const { body } = await api.call('GET', `${configMaps}/c0`);
  const stop = new AbortController();
  const lines = await take(api.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, stop.signal), 2);
  assert.deepEqual(
    lines.map(({ type, object }) => [type, object.metadata.name]),
    [
      ['ADDED', 'c1'],
      ['ADDED', 'c2'],
    ],
  );
  stop.abort();
  await using restarted = await inProcessServer({ storage: api.storage });
  const old: unknown[] = [];
  for await (const line of restarted.watch(`${configMaps}?watch=1&resourceVersion=2`, never))
    old.push([line.type, line.object.code, line.object.reason]);
  assert.deepEqual(old, [['ERROR', 410, 'Expired']]);
});

test('the old form of a watch is of the one object that its path names', async () => {
  await using api = await withConfigMaps(2);
  const stop = new AbortController();
  const seen = take(api.watch('/api/v1/watch/namespaces/default/configmaps/c1', stop.signal), 2);
  await new Promise((resolve) => setImmediate(resolve));
  await api.call('DELETE', `${configMaps}/c0`);
  await api.call('DELETE', `${configMaps}/c1`);
  assert.deepEqual(
    (await seen).map(({ type, object }) => [type, object.metadata.name]),
    [
      ['ADDED', 'c1'],
      ['DELETED', 'c1'],
    ],
  );
  stop.abort();
});

test('a watch ends when its time is over, with a bookmark for those who take them', async () => {
  const clock = new FakeClock();
  await using api = await withConfigMaps(1, {}, clock);
  const lines = take(api.watch(`${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=70`, never), 10);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(60_000);
  await clock.advance(10_000);
  const { body } = await api.call('GET', configMaps);
  const bookmark = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: body.metadata.resourceVersion, creationTimestamp: null } };
  assert.deepEqual((await lines).slice(1), [
    { type: 'BOOKMARK', object: bookmark },
    { type: 'BOOKMARK', object: bookmark },
  ]);
});

test('the end of the first state is marked when it is asked for', async () => {
  await using api = await withConfigMaps(1);
  const stop = new AbortController();
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const lines = await take(api.watch(`${configMaps}?${query}`, stop.signal), 2);
  assert.deepEqual(
    lines.map(({ type, object }) => [type, object.metadata.annotations]),
    [
      ['ADDED', undefined],
      ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
    ],
  );
  stop.abort();
});

test('a table has columns and rows; in a watch the columns come once', async () => {
  await using api = await withConfigMaps(2);
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
  const { body } = await api.call('GET', configMaps, { headers });
  const columns = body.columnDefinitions.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(
    [body.kind, columns, body.rows[0].cells.slice(0, 2), body.rows[0].object.kind],
    ['Table', ['Name', 'Data', 'Age'], ['c0', 0], 'PartialObjectMetadata'],
  );
  const whole = await api.call('GET', `${configMaps}?includeObject=Object`, { headers });
  assert.equal(whole.body.rows[0].object.kind, 'ConfigMap');
  const stop = new AbortController();
  const lines = await take(api.watch(`${configMaps}?watch=1`, stop.signal, headers), 2);
  assert.deepEqual(
    lines.map(({ object }) => [object.columnDefinitions === null, object.rows.length]),
    [
      [false, 1],
      [true, 1],
    ],
  );
  stop.abort();
  const partial = await api.call('GET', configMaps, { headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } });
  assert.deepEqual([partial.body.kind, partial.body.items[0].kind], ['PartialObjectMetadataList', 'PartialObjectMetadata']);
  const failure = await api.call('GET', `${configMaps}/none`, { headers });
  assert.deepEqual([failure.status, failure.body.kind, failure.body.message], [404, 'Status', 'configmaps "none" not found']);
});
