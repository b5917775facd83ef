import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule } from '#api/types/rbac-v1.ts';
import { systemClock } from '#base/clock.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import { type InProcessServer, inProcessServer } from '../../testing/in-process-server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const inShop = `${rbac}/namespaces/shop`;
const jane = { name: 'jane', groups: ['staff'] };
const janeText = 'user "jane" (groups=["staff" "system:authenticated"])';
const toJane = [{ kind: 'User', name: 'jane' }];
const manage = (resources: readonly string[], ...verbs: readonly string[]): PolicyRule => ({
  verbs: ['create', 'update', 'patch', 'get', ...verbs],
  apiGroups: ['rbac.authorization.k8s.io'],
  resources,
});
const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

/** A server with a namespace `shop` in which the rules are given to jane, or in the whole cluster. */
async function serverWhere(rules: readonly PolicyRule[], where: 'shop' | 'cluster' = 'shop'): Promise<InProcessServer> {
  const api = await inProcessServer();
  const must = async (url: string, body: object) => assert.equal((await api.call('POST', url, { body })).status, 201);
  await must('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await must(`${rbac}/clusterroles`, { metadata: { name: 'janes' }, rules });
  const binding = { metadata: { name: 'janes' }, roleRef: { kind: 'ClusterRole', name: 'janes' }, subjects: toJane };
  await must(where === 'shop' ? `${inShop}/rolebindings` : `${rbac}/clusterrolebindings`, binding);
  return api;
}

describe('requests', () => {
  test('somebody without a role reaches discovery, health and reviews of itself', async () => {
    await using api = await inProcessServer();
    for (const path of ['/api', '/apis', '/openapi/v2', '/version', '/readyz'])
      assert.equal((await api.call('GET', path, { as: jane })).status, 200, path);
    const denied = await api.call('GET', '/metrics', { as: jane });
    assert.deepEqual([denied.status, denied.body.message], [403, 'forbidden: User "jane" cannot get path "/metrics"']);
  });

  test('what a binding gives is there with the answer to its creation, and gone with that to its deletion', async () => {
    await using api = await serverWhere([pods]);
    const list = async (url: string) => (await api.call('GET', url, { as: jane })).status;
    assert.deepEqual(
      [await list('/api/v1/namespaces/shop/pods'), await list('/api/v1/pods'), await list('/api/v1/namespaces/default/pods')],
      [200, 403, 403],
    );
    await api.call('PATCH', `${rbac}/clusterroles/janes`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { rules: [{ ...pods, resources: ['secrets'] }] },
    });
    assert.deepEqual([await list('/api/v1/namespaces/shop/pods'), await list('/api/v1/namespaces/shop/secrets')], [403, 200]);
    await api.call('DELETE', `${inShop}/rolebindings/janes`);
    assert.equal(await list('/api/v1/namespaces/shop/secrets'), 403);
  });

  test('a refusal names user, verb, resource and place, safe to be shown in a page', async () => {
    await using api = await inProcessServer();
    const refused = async (url: string, name = 'jane') => (await api.call('GET', url, { as: { name } })).body.message;
    assert.equal(await refused('/api/v1/pods'), 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope');
    assert.equal(
      await refused('/apis/apps/v1/namespaces/a/deployments/web/scale'),
      'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments/scale" in API group "apps" in the namespace "a"',
    );
    assert.equal(
      await refused('/api/v1/nodes', '<b>&'),
      'nodes is forbidden: User "&lt;b&gt;&amp;" cannot list resource "nodes" in API group "" at the cluster scope',
    );
  });

  test('a role that is bound and does not exist is told with the refusal', async () => {
    await using api = await serverWhere([pods]);
    await api.call('DELETE', `${rbac}/clusterroles/janes`);
    const denied = await api.call('GET', '/api/v1/namespaces/shop/pods', { as: jane });
    assert.match(denied.body.message, /in the namespace "shop": RBAC: clusterrole\.rbac\.authorization\.k8s\.io "janes" not found$/);
  });

  test('53: with a rule for one name, a list is allowed that asks for that name', async () => {
    await using api = await serverWhere([
      { verbs: ['list', 'watch', 'deletecollection'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] },
    ]);
    const status = async (query: string) => (await api.call('GET', `/api/v1/namespaces/shop/configmaps${query}`, { as: jane })).status;
    assert.deepEqual(
      [
        await status(''),
        await status('?fieldSelector=metadata.name%3Da'),
        await status('?fieldSelector=metadata.name%3Db'),
        await status('?fieldSelector=metadata.name!%3Da'),
      ],
      [403, 200, 403, 403],
    );
  });

  test('a PUT that creates needs the right to create', async () => {
    const url = `${inShop}/roles/new`;
    const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'new' }, rules: [] };
    await using updater = await serverWhere([{ ...manage(['roles']), verbs: ['update'] }]);
    const denied = await updater.call('PUT', url, { body, as: jane });
    assert.deepEqual([denied.status, /cannot create resource "roles"/.test(denied.body.message)], [403, true]);
    await using creator = await serverWhere([{ ...manage(['roles']), verbs: ['update', 'create'] }]);
    assert.equal((await creator.call('PUT', url, { body, as: jane })).status, 201);
    assert.equal((await creator.call('PUT', url, { body, as: jane })).status, 200);
  });
});

describe('who writes roles', () => {
  test('gives no more than he has', async () => {
    await using api = await serverWhere([pods, manage(['roles'])]);
    const create = (name: string, ...rules: readonly PolicyRule[]) =>
      api.call('POST', `${inShop}/roles`, { body: { metadata: { name }, rules }, as: jane });
    assert.equal((await create('less', { ...pods, verbs: ['get'] })).status, 201);
    const more = await create('more', { ...pods, verbs: ['watch', 'delete'] }, { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'] });
    assert.deepEqual(
      [more.status, more.body.message],
      [
        403,
        `roles.rbac.authorization.k8s.io "more" is forbidden: ${janeText} is attempting to grant RBAC permissions not currently held:\n` +
          '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}\n{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}',
      ],
    );
    assert.equal((await api.call('GET', `${inShop}/roles/more`)).status, 404);
  });

  test('may escalate where it is said that he may', async () => {
    await using api = await serverWhere([manage(['roles'], 'escalate')]);
    assert.equal((await api.call('POST', `${inShop}/roles`, { body: { metadata: { name: 'r' }, rules: [pods] }, as: jane })).status, 201);
  });

  test('aggregates when he may do everything', async () => {
    const aggregated = { metadata: { name: 'sum' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
    await using api = await serverWhere([manage(['clusterroles'])], 'cluster');
    const denied = await api.call('POST', `${rbac}/clusterroles`, { body: aggregated, as: jane });
    assert.deepEqual(
      [denied.status, denied.body.message],
      [403, 'clusterroles.rbac.authorization.k8s.io "sum" is forbidden: must have cluster-admin privileges to use the aggregationRule'],
    );
    const all: readonly PolicyRule[] = [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ];
    await using almighty = await serverWhere(all, 'cluster');
    assert.equal((await almighty.call('POST', `${rbac}/clusterroles`, { body: aggregated, as: jane })).status, 201);
  });

  test('may take finalizers and owners away from what he could not have written', async () => {
    await using api = await serverWhere([manage(['roles'])]);
    const url = `${inShop}/roles/strong`;
    await api.call('POST', `${inShop}/roles`, { body: { metadata: { name: 'strong', finalizers: ['a.b/c'] }, rules: [pods] } });
    const patch = (body: object) => api.call('PATCH', url, { headers: { 'content-type': 'application/merge-patch+json' }, body, as: jane });
    assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 403);
    assert.equal((await patch({ metadata: { finalizers: null } })).status, 200);
  });
});

describe('who writes bindings', () => {
  const bind = (api: InProcessServer, role: object, more: object = {}) =>
    api.call('POST', `${inShop}/rolebindings`, { body: { metadata: { name: 'b' }, roleRef: role, subjects: toJane, ...more }, as: jane });

  test('gives no more than he has', async () => {
    await using api = await serverWhere([manage(['rolebindings'])]);
    const denied = await bind(api, { kind: 'ClusterRole', name: 'system:kube-dns' });
    assert.deepEqual(
      [denied.status, denied.body.message],
      [
        403,
        `rolebindings.rbac.authorization.k8s.io "b" is forbidden: ${janeText} is attempting to grant RBAC permissions not currently held:\n` +
          '{APIGroups:[""], Resources:["endpoints"], Verbs:["list" "watch"]}\n{APIGroups:[""], Resources:["services"], Verbs:["list" "watch"]}',
      ],
    );
    assert.equal((await bind(api, { kind: 'ClusterRole', name: 'janes' })).status, 201);
  });

  test('may bind a role that he is told to', async () => {
    const mayBind: PolicyRule = {
      verbs: ['bind'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      resourceNames: ['system:kube-dns'],
    };
    await using api = await serverWhere([manage(['rolebindings']), mayBind]);
    assert.equal((await bind(api, { kind: 'ClusterRole', name: 'system:kube-aggregator' })).status, 403);
    assert.equal((await bind(api, { kind: 'ClusterRole', name: 'system:kube-dns' })).status, 201);
  });

  test('binds what exists, unless he is a master', async () => {
    await using api = await serverWhere([manage(['rolebindings'])]);
    const missing = await bind(api, { kind: 'Role', name: 'none' });
    assert.deepEqual([missing.status, missing.body.message], [404, 'roles.rbac.authorization.k8s.io "none" not found']);
    const body = { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'none' }, subjects: toJane };
    assert.equal((await api.call('POST', `${inShop}/rolebindings`, { body })).status, 201);
  });

  test('is told which of his own roles could not be read', async () => {
    await using api = await serverWhere([manage(['rolebindings'])]);
    await api.call('POST', `${rbac}/clusterrolebindings`, {
      body: { metadata: { name: 'lost' }, roleRef: { kind: 'ClusterRole', name: 'lost' }, subjects: toJane },
    });
    const denied = await bind(api, { kind: 'ClusterRole', name: 'cluster-admin' });
    assert.match(
      denied.body.message,
      /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}; resolution errors: \[clusterroles\.rbac\.authorization\.k8s\.io "lost" not found\]$/,
    );
  });
});

describe('bootstrap objects', () => {
  const marks = {
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  };

  test('every cluster has its roles and bindings, marked', async () => {
    await using api = await inProcessServer();
    const { items } = (await api.call('GET', `${rbac}/clusterroles`)).body;
    const names: readonly string[] = items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
    for (const name of ['cluster-admin', 'admin', 'edit', 'view', 'system:node', 'system:controller:node-controller'])
      assert.ok(names.includes(name), name);
    const dns = (await api.call('GET', `${rbac}/clusterroles/system:kube-dns`)).body;
    assert.deepEqual([dns.metadata.labels, dns.metadata.annotations], [marks.labels, marks.annotations]);
    assert.deepEqual(dns.rules, [{ verbs: ['list', 'watch'], apiGroups: [''], resources: ['endpoints', 'services'] }]);
    const binding = (await api.call('GET', `${rbac}/clusterrolebindings/system:discovery`)).body;
    assert.deepEqual(
      [binding.roleRef, binding.subjects],
      [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:discovery' },
        [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }],
      ],
    );
    assert.equal((await api.call('GET', `${rbac}/namespaces/kube-system/rolebindings/system::leader-locking-kube-scheduler`)).status, 200);
  });

  test('a start that finds all of them writes nothing; one that does not mends them', async () => {
    const storage = createMemoryStorage(systemClock);
    const starting = async () => await inProcessServer({ storage });
    const first = await starting();
    await first.server.close();
    const revision = storage.revision();
    const second = await starting();
    assert.equal(storage.revision(), revision);
    await second.call('DELETE', `${rbac}/clusterroles/system:kube-dns`);
    await second.call('PUT', `${rbac}/clusterrolebindings/system:discovery`, {
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'system:discovery' },
        roleRef: { kind: 'ClusterRole', name: 'system:discovery' },
        subjects: toJane,
      },
    });
    await second.call('DELETE', `${rbac}/clusterrolebindings/system:basic-user`);
    const other = { metadata: { name: 'system:basic-user' }, roleRef: { kind: 'ClusterRole', name: 'view' } };
    await second.call('POST', `${rbac}/clusterrolebindings`, { body: other });
    await second.server.close();
    await using third = await starting();
    assert.equal((await third.call('GET', `${rbac}/clusterroles/system:kube-dns`)).status, 200);
    const subjects = async (name: string) =>
      (await third.call('GET', `${rbac}/clusterrolebindings/${name}`)).body.subjects.map((subject: { readonly name: string }) => subject.name);
    assert.deepEqual(await subjects('system:discovery'), ['jane', 'system:authenticated']);
    assert.deepEqual(await subjects('system:basic-user'), ['system:authenticated']);
  });
});
