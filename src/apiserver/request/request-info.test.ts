import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RequestInfo, requestInfoOf } from './request-info.ts';

const infoOf = (method: string, url: string): RequestInfo => {
  const { pathname, searchParams } = new URL(url, 'http://server');
  return requestInfoOf(method, pathname, searchParams);
};
const resource = (fields: object) => ({
  kind: 'resource',
  group: '',
  version: 'v1',
  subresource: '',
  namespace: '',
  name: '',
  rest: undefined,
  ...fields,
});

test('a collection in a namespace is listed, or watched when the query says so', () => {
  const path = '/api/v1/namespaces/a/pods';
  assert.deepEqual(infoOf('GET', path), resource({ verb: 'list', path, resource: 'pods', namespace: 'a' }));
  assert.deepEqual(infoOf('GET', `${path}?watch=1`), resource({ verb: 'watch', path, resource: 'pods', namespace: 'a' }));
  assert.deepEqual(infoOf('GET', `${path}?watch=false`), resource({ verb: 'list', path, resource: 'pods', namespace: 'a' }));
  assert.deepEqual(infoOf('DELETE', path), resource({ verb: 'deletecollection', path, resource: 'pods', namespace: 'a' }));
});

test('a namespace is itself with status and finalize, and a scope with anything else', () => {
  const status = '/api/v1/namespaces/a/status';
  assert.deepEqual(
    infoOf('PUT', status),
    resource({ verb: 'update', path: status, resource: 'namespaces', subresource: 'status', namespace: 'a', name: 'a' }),
  );
  const pods = '/api/v1/namespaces/a/pods/p/exec';
  assert.deepEqual(infoOf('POST', pods), resource({ verb: 'create', path: pods, resource: 'pods', subresource: 'exec', namespace: 'a', name: 'p' }));
});

test('what follows a subresource is kept, a trailing slash included', () => {
  const path = '/api/v1/nodes/n/proxy/logs/';
  assert.deepEqual(infoOf('GET', path), resource({ verb: 'get', path, resource: 'nodes', subresource: 'proxy', name: 'n', rest: 'logs/' }));
});

test('a collection that is narrowed to one name carries that name', () => {
  const path = '/apis/apps/v1/deployments';
  assert.deepEqual(
    infoOf('GET', `${path}?fieldSelector=metadata.name%3Dweb`),
    resource({
      verb: 'list',
      path,
      group: 'apps',
      resource: 'deployments',
      name: 'web',
      fields: [{ field: 'metadata.name', operator: '=', value: 'web' }],
    }),
  );
});

test('discovery and health are paths', () => {
  assert.deepEqual(infoOf('GET', '/apis/apps/v1'), { kind: 'path', verb: 'get', path: '/apis/apps/v1' });
  assert.deepEqual(infoOf('GET', '/api/v1'), { kind: 'path', verb: 'get', path: '/api/v1' });
  assert.deepEqual(infoOf('GET', '/healthz'), { kind: 'path', verb: 'get', path: '/healthz' });
});

test('a path with a broken escape is refused', () => {
  assert.throws(() => infoOf('GET', '/api/v1/pods/%ff'), /invalid URL escape in "\/api\/v1\/pods\/%ff"/);
});
