import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

const jane = { name: 'jane' };

test('who may not is told what, in upstream words', async () => {
  await using api = await inProcessServer();
  const list = await api.call('GET', '/api/v1/namespaces/a/pods', { as: jane });
  assert.deepEqual(
    [list.status, list.headers['x-content-type-options'], list.body.message],
    [403, 'nosniff', 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "a"'],
  );
  const node = await api.call('DELETE', '/api/v1/nodes/n', { as: jane });
  assert.equal(node.body.message, 'nodes "n" is forbidden: User "jane" cannot delete resource "nodes" in API group "" at the cluster scope');
  const path = await api.call('GET', '/metrics', { as: jane });
  assert.equal(path.body.message, 'forbidden: User "jane" cannot get path "/metrics"');
});

test('paths that are not, methods that are not', async () => {
  await using api = await inProcessServer();
  for (const url of ['/nope', '/api/v1/nopes', '/apis/none/v1/things', '/api/v1/namespaces/a/pods/p/nope', '/api/v1/namespaces/a/nodes']) {
    const { status, body } = await api.call('GET', url);
    assert.deepEqual([url, status, body], [url, 404, '404 page not found\n']);
  }
  assert.equal((await api.call('DELETE', '/api/v1/namespaces')).status, 405);
  assert.equal((await api.call('POST', '/version')).status, 405);
});

test('health, with each check on demand', async () => {
  await using api = await inProcessServer();
  assert.equal((await api.call('GET', '/readyz', { as: jane })).body, 'ok');
  assert.equal((await api.call('GET', '/readyz?verbose')).body, '[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\nreadyz check passed\n');
  assert.equal((await api.call('GET', '/livez/ping')).body, 'ok');
  assert.equal(
    (await api.call('GET', '/healthz?verbose&exclude=ping&exclude=x')).body,
    '[+]ping excluded: ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
  );
});

test('a user finds out who it is and what it may', async () => {
  await using api = await inProcessServer();
  const who = await api.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: {}, as: jane });
  assert.deepEqual([who.status, who.body.status], [201, { userInfo: { username: 'jane', groups: ['system:authenticated'] } }]);
  const may = async (as: object, resourceAttributes: object) => {
    const url = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    return (await api.call('POST', url, { body: { spec: { resourceAttributes } }, as: { ...jane, ...as } })).body.status.allowed;
  };
  assert.equal(await may({}, { verb: 'get', resource: 'pods' }), false);
  assert.equal(await may({ name: 'system:kube-scheduler' }, { verb: 'list', resource: 'pods' }), true);
  const rules = await api.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { body: { spec: { namespace: 'a' } }, as: jane });
  assert.equal(rules.body.status.incomplete, false);
  assert.ok(
    rules.body.status.nonResourceRules.some(({ nonResourceURLs }: { readonly nonResourceURLs: string[] }) => nonResourceURLs.includes('/api/*')),
  );
});

test('discovery tells the same in its old and in its aggregated form', async () => {
  await using api = await inProcessServer();
  const core = (await api.call('GET', '/api/v1')).body;
  assert.deepEqual([core.kind, core.apiVersion, core.groupVersion], ['APIResourceList', undefined, 'v1']);
  const find = (name: string) => core.resources.find((entry: { readonly name: string }) => entry.name === name);
  assert.deepEqual(
    [find('pods').shortNames, find('pods/eviction').group, find('serviceaccounts/token').kind, find('namespaces').verbs.includes('deletecollection')],
    [['po'], 'policy', 'TokenRequest', false],
  );
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  const aggregated = await api.call('GET', '/apis', { headers: { accept } });
  assert.equal(aggregated.headers['content-type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  const groups = (await api.call('GET', '/apis')).body.groups.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(
    aggregated.body.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name),
    groups,
  );
  const unchanged = await api.call('GET', '/apis', { headers: { accept, 'if-none-match': aggregated.headers['etag'] ?? '' } });
  assert.equal(unchanged.status, 304);
  assert.equal((await api.call('GET', '/apis/scheduling.k8s.io/')).body.preferredVersion.groupVersion, 'scheduling.k8s.io/v1');
});

test('a route of another part is authorized, found before the kinds, and shown by discovery', async () => {
  const discovery = {
    group: 'example.com',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    shortNames: [],
    scope: 'Cluster',
    verbs: ['list'],
  } as const;
  const body = Buffer.from('{"here":true}');
  await using api = await inProcessServer({
    extraRoutes: [
      () => [
        {
          name: 'things',
          matches: (info) => info.kind === 'resource' && info.resource === 'things',
          handle: async () => ({ status: 200, headers: {}, body }),
          discovery,
        },
      ],
    ],
  });
  assert.deepEqual((await api.call('GET', '/apis/example.com/v1/things')).body, { here: true });
  assert.equal((await api.call('GET', '/apis/example.com/v1/things', { as: jane })).status, 403);
  assert.equal((await api.call('GET', '/apis/example.com/v1')).body.resources[0].kind, 'Thing');
});

test('OpenAPI documents are found by their hash', async () => {
  await using api = await inProcessServer();
  const { body: index } = await api.call('GET', '/openapi/v3');
  const url = index.paths['api/v1'].serverRelativeURL;
  const document = await api.call('GET', url);
  assert.deepEqual([document.status, document.headers['cache-control']], [200, 'public, immutable']);
  assert.ok(document.body.paths['/api/v1/namespaces/{namespace}/pods/{name}'].patch);
  assert.equal((await api.call('GET', '/openapi/v3/api/v1?hash=old')).status, 301);
});
