import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { RouteFactory } from '../request/route.ts';
import { inProcessServer } from '../testing/in-process-server.ts';
import { requestInfoOf } from './request-info.ts';
import { isLongRunning, timeLimitOf } from './time-limit.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const limitMs = (method: string, url: string) => {
  const [path = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  return timeLimitOf(requestInfoOf(method, path, parameters), parameters)?.ms;
};

test('reads have a minute, writes 34 seconds, streams no end; who asks for less gets less', () => {
  assert.equal(limitMs('GET', configMaps), 60_000);
  assert.equal(limitMs('DELETE', configMaps), 60_000); // a collection may take longer than one object
  assert.equal(limitMs('GET', '/healthz?timeout=10s'), 10_000);
  assert.equal(limitMs('GET', `${configMaps}?timeout=1h30m`), 60_000);
  for (const method of ['PUT', 'PATCH', 'DELETE']) assert.equal(limitMs(method, `${configMaps}/a`), 34_000);
  assert.equal(limitMs('POST', `${configMaps}?timeout=1500ms`), 1_500);
  assert.equal(limitMs('GET', `${configMaps}?watch=1&timeout=1s`), undefined);
  for (const subresource of ['log', 'exec', 'attach', 'portforward', 'proxy/x']) {
    assert.equal(limitMs('GET', `/api/v1/namespaces/n/pods/p/${subresource}`), undefined);
  }
  assert.equal(isLongRunning(requestInfoOf('GET', '/version', new URLSearchParams())), false);
});

test('a time that cannot be read is refused before anybody asks who it is', async () => {
  await using api = await inProcessServer();
  for (const as of [{ name: 'admin', groups: ['system:masters'] }, { name: 'nobody' }]) {
    const { status, body } = await api.call('GET', `${configMaps}?timeout=soon`, { as });
    assert.deepEqual([status, body.message], [400, 'invalid timeout specified in the request URL - time: invalid duration "soon"']);
  }
});

/** Endpoints that never answer. */
const silent: RouteFactory = () => [
  { name: 'silent', matches: (info) => info.kind === 'resource' && info.resource === 'silents', handle: () => new Promise(() => undefined) },
];

test('what takes too long is answered with 504, writes in words of their own', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({ extraRoutes: [silent] }, clock);
  const late = async (method: 'GET' | 'POST', afterMs: number, query = '') => {
    const answer = api.call(method, `/apis/example.com/v1/silents${query}`, { body: method === 'POST' ? {} : undefined });
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(afterMs);
    const { status, body } = await answer;
    return [status, body.reason, body.message];
  };
  assert.deepEqual(await late('GET', 60_000), [504, 'Timeout', 'Timeout: request did not complete within the allotted timeout']);
  assert.deepEqual(await late('GET', 2_000, '?timeout=2s'), [504, 'Timeout', 'Timeout: request did not complete within the allotted timeout']);
  const ofWrites = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
  assert.deepEqual(await late('POST', 34_000), [504, 'Timeout', ofWrites]);
});

test('a name that is no segment of a path is refused', async () => {
  await using api = await inProcessServer();
  const refusal = async (name: string) => {
    const { status, body } = await api.call('GET', `${configMaps}/${name}`);
    return [status, body.reason, body.message];
  };
  assert.deepEqual(await refusal('..'), [400, 'BadRequest', `Name parameter invalid: "..": may not be '..'`]);
  assert.deepEqual(await refusal('%2e'), [400, 'BadRequest', `Name parameter invalid: ".": may not be '.'`]);
  assert.deepEqual(await refusal('a%2Fb'), [400, 'BadRequest', `Name parameter invalid: "a/b": may not contain '/'`]);
  assert.deepEqual(await refusal('a%25b'), [400, 'BadRequest', `Name parameter invalid: "a%b": may not contain '%'`]);
  assert.equal((await refusal('a%zz'))[0], 400);
});

test('a body beyond 3 MiB is refused with its limit', async () => {
  await using api = await inProcessServer();
  const { status, body } = await api.call('POST', configMaps, { body: { metadata: { name: 'a' }, data: { k: 'x'.repeat(3 * 1024 * 1024) } } });
  assert.deepEqual([status, body.reason, body.message], [413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728']);
});

test('garbage is answered, not thrown', async () => {
  await using api = await inProcessServer();
  for (const url of [
    '',
    '/',
    '//',
    '/api//v1',
    '/api/v1/',
    '/api/v1//',
    '/apis///',
    '/api/v1/namespaces//pods',
    '/api/v1/watch',
    '/apis/a/b/watch/',
    '/?a=%',
  ]) {
    const { status } = await api.call('GET', url);
    assert.ok([200, 400, 404].includes(status), `${url}: ${status}`);
  }
  for (const body of ['', 'null', '[]', '1', '{', '"x"', '\0']) {
    const { status } = await api.call('POST', configMaps, { body, headers: { 'content-type': 'application/json' } });
    assert.ok(status === 400 || status === 422, `${body}: ${status}`);
  }
});

test('trailing slashes mean nothing', async () => {
  await using api = await inProcessServer();
  for (const url of ['/api', '/apis', '/api/v1', '/apis/coordination.k8s.io', '/apis/coordination.k8s.io/v1', configMaps, '/openapi/v3/api/v1']) {
    const [without, withSlash] = await Promise.all([api.call('GET', url), api.call('GET', `${url}/`)]);
    assert.deepEqual([withSlash.status, withSlash.body], [200, without.body]);
  }
});

test('every answer says how it may be kept and by which name the audit knows it', async () => {
  await using api = await inProcessServer();
  const own = await api.call('GET', configMaps, { headers: { 'audit-id': 'mine' } });
  assert.deepEqual([own.headers['audit-id'], own.headers['cache-control']], ['mine', 'no-cache, private']);
  const other = await api.call('GET', `${configMaps}/none`);
  assert.match(other.headers['audit-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(other.headers['cache-control'], 'no-cache, private');
});
