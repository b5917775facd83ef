import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease } from '#api/kinds/coordination/v1/lease.ts';
import { node } from '#api/kinds/core/v1/node.ts';
import { pod } from '#api/kinds/core/v1/pod.ts';
import { aNode, aPod } from '#api/testing/objects.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createClient } from './api-client.ts';
import { ApiError, isAlreadyExists, isConflict, isGone, isNotFound, MalformedAnswer } from './api-error.ts';
import { MemoryApi } from './testing/memory-api.ts';
import type { Transport, TransportRequest } from './transport.ts';

const signal = new AbortController().signal;

/** Answers every request with the same text and remembers what was asked. */
function answering(status: number, text: string): { transport: Transport; asked: TransportRequest[] } {
  const asked: TransportRequest[] = [];
  async function* body() {
    yield new TextEncoder().encode(text);
  }
  const transport: Transport = {
    async send(request) {
      asked.push(request);
      return { status, headers: {}, body: body() };
    },
    async close() {},
  };
  return { transport, asked };
}

test('each call goes to the path, with the method, query and content type that the API asks for', async () => {
  const { transport, asked } = answering(200, '{"metadata":{},"items":[]}');
  const client = createClient(transport, { userAgent: 'tests/1' });
  await client.get(node, { name: 'node 1' }, signal);
  await client.list(pod, { fieldSelector: 'spec.nodeName=', limit: 5 }, signal);
  await client.update(lease, { apiVersion: '', kind: '', metadata: { ...aPod().metadata, name: 'a', namespace: 'b' } }, signal);
  await client.patch(pod, { namespace: 'b', name: 'a' }, 'strategic', { status: {} }, 'status', signal);
  await client.delete(pod, { namespace: 'b', name: 'a' }, { gracePeriodSeconds: 0 }, signal);
  await client.createSubresource(pod, { namespace: 'b', name: 'a' }, 'binding', {}, signal);
  const seen = asked.map((request) => [
    request.method,
    request.path,
    request.query.toString(),
    request.headers['content-type'],
    request.headers['user-agent'],
  ]);
  assert.deepEqual(seen, [
    ['GET', '/api/v1/nodes/node%201', '', undefined, 'tests/1'],
    ['GET', '/api/v1/pods', 'fieldSelector=spec.nodeName%3D&limit=5', undefined, 'tests/1'],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/b/leases/a', '', 'application/json', 'tests/1'],
    ['PATCH', '/api/v1/namespaces/b/pods/a/status', '', 'application/strategic-merge-patch+json', 'tests/1'],
    ['DELETE', '/api/v1/namespaces/b/pods/a', '', 'application/json', 'tests/1'],
    ['POST', '/api/v1/namespaces/b/pods/a/binding', '', 'application/json', 'tests/1'],
  ]);
  assert.deepEqual(JSON.parse(String(asked[4]?.body)), { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
});

test('items of a list get the type that the wire leaves out', async () => {
  const { transport } = answering(200, '{"metadata":{"resourceVersion":"7","continue":"next"},"items":[{"metadata":{"name":"a"}}]}');
  assert.deepEqual(await createClient(transport).list(pod, {}, signal), {
    items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }],
    resourceVersion: '7',
    continueToken: 'next',
  });
});

test('a failure Status is thrown as what it is', async () => {
  const client = createClient(new MemoryApi());
  const nobody = { namespace: 'default', name: 'nobody' };
  await assert.rejects(
    client.get(pod, nobody, signal),
    (error: ApiError) => isNotFound(error) && error.reason === 'NotFound' && error.retry === 'never',
  );
  const created = await client.create(pod, aPod(), signal);
  await assert.rejects(client.create(pod, aPod(), signal), (error) => isAlreadyExists(error) && !isConflict(error));
  await client.update(pod, created, signal);
  await assert.rejects(client.update(pod, created, signal), (error: ApiError) => isConflict(error) && error.retry === 'now');
});

test('an answer that is not from an API server is told from a Status', async () => {
  const get = (status: number, text: string) => createClient(answering(status, text).transport).get(node, { name: 'a' }, signal);
  await assert.rejects(get(502, '<h1>Bad gateway</h1>'), (error: ApiError) => error.status === 502 && error.message.includes('Bad gateway'));
  await assert.rejects(get(200, '{"cut off'), MalformedAnswer);
});

test('a watch delivers changes and bookmarks and throws what the stream ends with', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  const stream = [
    { type: 'ADDED', object: aNode() },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
    { type: 'ERROR', object: status },
  ];
  const { transport } = answering(200, stream.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const seen: unknown[] = [];
  const read = async () => {
    for await (const event of createClient(transport).watch(node, { resourceVersion: '5' }, signal)) seen.push(event);
  };
  await assert.rejects(read(), isGone);
  assert.deepEqual(seen, [
    { type: 'ADDED', object: aNode() },
    { type: 'BOOKMARK', resourceVersion: '9' },
  ]);
});

test('a call that the server does not answer ends at its deadline', async () => {
  const clock = new FakeClock();
  const transport: Transport = { send: () => new Promise(() => undefined), close: async () => undefined };
  const call = createClient(transport, { deadline: { ms: 1000, clock } }).get(node, { name: 'a' }, signal);
  const failed = assert.rejects(call, DeadlineExceeded);
  await clock.advance(1000);
  await failed;
});

test('an error of the server may be tried again, one of the caller may not', () => {
  const retry = (status: number) => new ApiError({ message: '', status, reason: '' }).retry;
  assert.deepEqual([400, 403, 404, 409, 422, 429, 500, 503].map(retry), ['never', 'never', 'never', 'now', 'never', 'backoff', 'backoff', 'backoff']);
});

test('metadata alone is asked for as such, and says what it is the metadata of', async () => {
  const metadata = { name: 'a', resourceVersion: '7' };
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  const lists = answering(200, JSON.stringify({ metadata: {}, items: [partial] }));
  const { items } = await createClient(lists.transport).list(pod, { metadataOnly: true }, signal);
  assert.deepEqual(items, [{ kind: 'Pod', apiVersion: 'v1', metadata }]);
  assert.equal(lists.asked[0]?.headers['accept'], 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
  const watches = answering(200, `${JSON.stringify({ type: 'ADDED', object: partial })}\n`);
  for await (const event of createClient(watches.transport).watch(pod, { metadataOnly: true }, signal)) {
    assert.deepEqual(event, { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata } });
  }
  assert.equal(watches.asked[0]?.headers['accept'], 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
});

test('discovery gives every version of every resource', async () => {
  const { transport, asked } = answering(
    200,
    JSON.stringify({
      items: [
        {
          metadata: { name: 'a.b' },
          versions: [{ version: 'v1', resources: [{ resource: 'things', responseKind: { kind: 'Thing' }, scope: 'Namespaced', verbs: ['get'] }] }],
        },
      ],
    }),
  );
  const things = { group: 'a.b', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced', verbs: ['get'] };
  assert.deepEqual(await createClient(transport).discover(signal), [things, things]); // `/api` and `/apis` answer the same here
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/api', '/apis'],
  );
});
