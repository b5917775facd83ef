import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';
import { DiscoveryDocuments } from './documents.ts';
import { compareVersions } from './group-order.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly singularName: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly version?: string;
  readonly storageVersionHash?: string;
}

/** The groups of 1.36 in the order of their priorities: kubectl takes the first that has a name. */
const order = [
  ...['apiregistration.k8s.io', 'apps', 'events.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'autoscaling', 'batch'],
  ...['certificates.k8s.io', 'networking.k8s.io', 'policy', 'rbac.authorization.k8s.io', 'storage.k8s.io', 'admissionregistration.k8s.io'],
  ...['apiextensions.k8s.io', 'scheduling.k8s.io', 'coordination.k8s.io', 'node.k8s.io', 'discovery.k8s.io', 'resource.k8s.io'],
  'flowcontrol.apiserver.k8s.io',
];

test('groups are in the order of their priorities, versions the preferred one first', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('GET', '/apis');
  assert.deepEqual([body.kind, body.apiVersion], ['APIGroupList', 'v1']);
  const names: string[] = body.groups.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(
    names.filter((name) => order.includes(name)),
    order.filter((name) => names.includes(name)),
  );
  for (const group of body.groups) assert.deepEqual(group.preferredVersion, group.versions[0]);
  const autoscaling = body.groups.find(({ name }: { readonly name: string }) => name === 'autoscaling');
  assert.deepEqual(
    autoscaling.versions.map(({ version }: { readonly version: string }) => version),
    ['v2', 'v1'],
  );
});

test('versions are ordered as upstream does', () => {
  const versions = ['foo10', 'v1alpha1', 'v1', 'v11alpha2', 'v10beta3', 'v12alpha1', 'v3beta1', 'v10', 'v2', 'v11beta2', 'foo1'];
  const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'v1alpha1', 'foo1', 'foo10'];
  assert.deepEqual(versions.sort(compareVersions), sorted);
});

test('the old form: core has no apiVersion, verbs are sorted, bodies of other groups say so', async () => {
  await using api = await inProcessServer();
  const { body: root } = await api.call('GET', '/api', { headers: { host: '127.0.0.1:6443' } });
  assert.deepEqual(root, {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  });
  const { body } = await api.call('GET', '/api/v1');
  assert.deepEqual([body.kind, body.apiVersion, body.groupVersion], ['APIResourceList', undefined, 'v1']);
  const resources: readonly Resource[] = body.resources;
  for (const { name, verbs } of resources) assert.deepEqual([name, verbs], [name, [...verbs].sort()]);
  const find = (name: string) => resources.find((resource) => resource.name === name);
  assert.deepEqual(find('pods/eviction'), {
    ...{ name: 'pods/eviction', singularName: '', namespaced: true, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  });
  assert.deepEqual([find('pods/exec')?.kind, find('pods/exec')?.verbs], ['PodExecOptions', ['create', 'get']]);
  assert.deepEqual(find('pods/log')?.verbs, ['get']);
  assert.deepEqual(find('pods')?.categories, ['all']);
  assert.deepEqual(find('serviceaccounts/token')?.group, 'authentication.k8s.io');
  assert.deepEqual(find('bindings')?.verbs, ['create']);
  assert.deepEqual(find('componentstatuses')?.verbs, ['get', 'list']);
  assert.equal(find('namespaces')?.verbs.includes('deletecollection'), false);
});

test('/scale is of autoscaling/v1; a hash is that of the version that is stored', async () => {
  await using api = await inProcessServer();
  const apps: readonly Resource[] = (await api.call('GET', '/apis/apps/v1')).body.resources;
  const scale = apps.find(({ name }) => name === 'deployments/scale');
  assert.deepEqual([scale?.group, scale?.version, scale?.kind, scale?.verbs], ['autoscaling', 'v1', 'Scale', ['get', 'patch', 'update']]);
  const hashOf = async (version: string): Promise<string | undefined> => {
    const resources: readonly Resource[] = (await api.call('GET', `/apis/autoscaling/${version}`)).body.resources;
    return resources.find(({ kind }) => kind === 'HorizontalPodAutoscaler')?.storageVersionHash;
  };
  const stored = createHash('sha256').update('autoscaling/v2/HorizontalPodAutoscaler').digest().subarray(0, 8).toString('base64');
  assert.deepEqual([await hashOf('v1'), await hashOf('v2')], [stored, stored]);
});

test('the aggregated form is chosen by Accept, told by Content-Type, and known by its tag', async () => {
  await using api = await inProcessServer();
  const get = (accept: string, more: Readonly<Record<string, string>> = {}) => api.call('GET', '/apis', { headers: { accept, ...more } });
  const typeOf = async (accept: string) => (await get(accept)).headers['content-type'];
  const old = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
  assert.equal(await typeOf(`${aggregated},${old},application/json`), aggregated);
  assert.equal(await typeOf(`${old},application/json`), 'application/json');
  assert.equal(await typeOf(`${aggregated};profile=nopeer,${aggregated},application/json`), `${aggregated};profile=nopeer`);
  assert.equal(await typeOf(`application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io`), aggregated);
  assert.equal((await get(old)).status, 406);
  const { headers, body } = await get(aggregated);
  assert.deepEqual(
    [headers['vary'], headers['cache-control'], body.kind, body.apiVersion],
    ['Accept', 'public', 'APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
  );
  assert.match(headers['etag'] ?? '', /^"[0-9A-F]{128}"$/);
  assert.equal((await get(aggregated, { 'if-none-match': headers['etag'] ?? '' })).status, 304);
  const { body: core } = await api.call('GET', '/api', { headers: { accept: aggregated } });
  assert.deepEqual([core.items.length, core.items[0].metadata.name, core.items[0].versions[0].freshness], [1, undefined, 'Current']);
});

test('documents follow what there is: nothing is known by its name', () => {
  const resource = { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', singular: 'thing', shortNames: ['th'], categories: [] };
  const documents = new DiscoveryDocuments([{ ...resource, scope: 'Cluster', verbs: ['get'], storageHash: 'h', subresources: [] }]);
  assert.ok(documents.paths().includes('/apis/example.com/v1'));
  assert.deepEqual(documents.resourceList('example.com', 'v1'), {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'example.com/v1',
    resources: [
      { name: 'things', singularName: 'thing', namespaced: false, kind: 'Thing', verbs: ['get'], shortNames: ['th'], storageVersionHash: 'h' },
    ],
  });
});

test('/version and / are indented JSON, whatever is asked for', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('GET', '/version', { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
  assert.match(body.major, /^[1-9]\d*$/);
  assert.match(body.minor, /^\d+/);
  assert.match(body.gitVersion, /^v\d+\.\d+\.\d+(\+.+)?$/);
  assert.ok((await api.call('GET', '/')).body.paths.includes('/openapi/v3'));
});
