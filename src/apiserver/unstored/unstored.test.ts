import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

test('the store is a component whose health is told, with a word on the age of the kind', async () => {
  await using api = await inProcessServer();
  const { body: list, headers } = await api.call('GET', '/api/v1/componentstatuses');
  assert.deepEqual(list, {
    kind: 'ComponentStatusList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '' },
    items: [{ metadata: { name: 'etcd-0' }, conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] }],
  });
  assert.match(headers['warning'] ?? '', /v1 ComponentStatus is deprecated in v1\.19\+/);
  const { body: shown } = await api.call('GET', '/api/v1/componentstatuses/etcd-0', { headers: table });
  assert.deepEqual(shown.rows[0].cells, ['etcd-0', 'Healthy', 'ok', '']);
  const missing = await api.call('GET', '/api/v1/componentstatuses/x');
  assert.deepEqual([missing.status, missing.body.message], [404, 'componentstatuses "x" not found']);
  assert.equal((await api.call('POST', '/api/v1/componentstatuses', { body: { metadata: { name: 'x' } } })).status, 405);
});

test('a binding in the collection binds the pod that its body names', async () => {
  await using api = await inProcessServer();
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } });
  const pods = '/api/v1/namespaces/default/pods';
  await api.call('POST', pods, { body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } });
  const bind = (name: string) =>
    api.call('POST', '/api/v1/namespaces/default/bindings', { body: { metadata: { name }, target: { kind: 'Node', name: 'n1' } } });
  const bound = await bind('p');
  assert.deepEqual([bound.status, bound.body.kind, bound.body.status, bound.body.code], [201, 'Status', 'Success', 201]);
  assert.equal((await api.call('GET', `${pods}/p`)).body.spec.nodeName, 'n1');
  const again = await bind('p');
  assert.deepEqual(
    [again.status, again.body.message],
    [409, 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'],
  );
  assert.equal((await bind('none')).status, 404);
});

test('discovery shows what is not stored without a storage', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('GET', '/api/v1');
  const of = (name: string) => body.resources.find((resource: { readonly name: string }) => resource.name === name);
  assert.deepEqual(of('bindings'), { name: 'bindings', singularName: 'binding', namespaced: true, kind: 'Binding', verbs: ['create'] });
  assert.deepEqual(of('componentstatuses'), {
    name: 'componentstatuses',
    singularName: 'componentstatus',
    namespaced: false,
    kind: 'ComponentStatus',
    verbs: ['get', 'list'],
    shortNames: ['cs'],
  });
});
