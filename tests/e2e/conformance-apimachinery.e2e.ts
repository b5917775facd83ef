import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestsTo, type WatchEvent } from '../support/requests.ts';
import { startCluster } from '../support/start-cluster.ts';

/** Upstream’s conformance tests of API machinery, told again for a server without nodes; each test has the name of upstream’s. */
const cluster = await startCluster({ nodes: 0 });
const api = await requestsTo(cluster.kubeconfig);
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const applyPatch = { 'content-type': 'application/apply-patch+yaml' };

async function namespace(name: string): Promise<string> {
  assert.equal((await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name } } })).status, 201);
  await api.watch(`/api/v1/namespaces/${name}/serviceaccounts?watch=1&fieldSelector=metadata.name%3Ddefault`, ({ type }) => type === 'ADDED');
  return `/api/v1/namespaces/${name}`;
}

async function created(path: string, body: object) {
  const answer = await api.call('POST', path, { body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

test('AggregatedDiscovery should support aggregated discovery interface', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const core = await api.call('GET', '/api', { headers: { accept } });
  const groups = await api.call('GET', '/apis', { headers: { accept } });
  const served = [...core.body.items, ...groups.body.items].flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }: { readonly version: string; readonly resources: readonly { readonly resource: string }[] }) =>
      resources.map(({ resource }) => `${metadata.name ?? ''}/${version}/${resource}`),
    ),
  );
  for (const wanted of [
    '/v1/namespaces',
    '/v1/pods',
    'apps/v1/deployments',
    'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    'apiextensions.k8s.io/v1/customresourcedefinitions',
    'batch/v1/jobs',
    'scheduling.k8s.io/v1/priorityclasses',
  ]) {
    assert.ok(served.includes(wanted), wanted);
  }
  assert.equal(new Set(served).size, served.length);
});

test('AggregatedDiscovery should support raw aggregated discovery endpoint Accept headers', async () => {
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  for (const path of ['/api', '/apis']) {
    for (const accept of [aggregated, `${aggregated},application/json;q=0.9`, `application/json;as=Unknown;g=x;v=v9,${aggregated}`]) {
      const answer = await api.call('GET', path, { headers: { accept } });
      assert.equal(answer.headers['content-type'], aggregated, accept);
      assert.equal(answer.body.kind, 'APIGroupDiscoveryList');
    }
    const plain = await api.call('GET', path, { headers: { accept: 'application/json' } });
    assert.deepEqual([plain.headers['content-type'], plain.body.kind], ['application/json', path === '/api' ? 'APIVersions' : 'APIGroupList']);
    assert.equal((await api.call('GET', path, { headers: { accept: 'application/json;g=x;v=v9;as=Unknown' } })).status, 406);
  }
});

test('Discovery should validate PreferredVersion for each APIGroup', async () => {
  const { body } = await api.call('GET', '/apis');
  for (const { name, preferredVersion, versions } of body.groups) {
    const answers = await Promise.all([`/apis/${name}`, `/apis/${name}/`].map((path) => api.call('GET', path)));
    for (const { body: group } of answers) {
      assert.deepEqual([group.kind, group.name, group.preferredVersion, group.versions], ['APIGroup', name, preferredVersion, versions]);
    }
    assert.ok(
      versions.some((version: object) => JSON.stringify(version) === JSON.stringify(preferredVersion)),
      name,
    );
  }
});

test('Discovery should locate the groupVersion and a resource within each APIGroup', async () => {
  const { body } = await api.call('GET', '/apis');
  for (const { versions } of body.groups) {
    for (const { groupVersion } of versions) {
      for (const end of ['', '/']) {
        const { body: list } = await api.call('GET', `/apis/${groupVersion}${end}`);
        assert.deepEqual([list.kind, list.groupVersion], ['APIResourceList', groupVersion]);
        assert.ok(list.resources.length > 0, groupVersion);
      }
    }
  }
  const core = await api.call('GET', '/api/v1/');
  assert.equal(core.body.groupVersion, 'v1');
});

test('server version should find the server version', async () => {
  const { body } = await api.call('GET', '/version');
  assert.match(body.major, /^[1-9][0-9]*$/);
  assert.match(body.minor, /^[0-9]+[^0-9]*$/);
});

test('Servers with support for Table transformation should return a 406 for a backend which does not implement metadata', async () => {
  const answer = await api.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    body: { spec: { resourceAttributes: { verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: 'default' } } },
  });
  assert.deepEqual([answer.status, answer.body.reason], [406, 'NotAcceptable']);
});

test('Servers with support for API chunking should return chunks of results for list calls', async () => {
  const templates = `${await namespace('chunks')}/podtemplates`;
  const total = 40;
  const template = { spec: { containers: [{ name: 'test', image: 'test2' }] } };
  const names = Array.from({ length: total }, (_, index) => `template-${String(index).padStart(4, '0')}`);
  await Promise.all(names.map((name) => created(templates, { metadata: { name }, template })));
  for (const limit of [17, 40, 41, 1]) {
    const seen: string[] = [];
    let token = '';
    let version: string | undefined;
    do {
      const { body } = await api.call('GET', `${templates}?limit=${limit}&continue=${encodeURIComponent(token)}`);
      version ??= body.metadata.resourceVersion;
      assert.equal(body.metadata.resourceVersion, version, 'one version for all pages');
      seen.push(...body.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name));
      token = body.metadata.continue ?? '';
      assert.equal(body.metadata.remainingItemCount, token === '' ? undefined : total - seen.length);
      if (seen.length === limit && limit === 17) await api.call('DELETE', `${templates}/template-0039`); // the pages are of before
    } while (token !== '');
    assert.deepEqual(seen, names, `pages of ${limit}`);
    if (limit === 17) await created(templates, { metadata: { name: 'template-0039' }, template });
  }
  assert.equal((await api.call('GET', templates)).body.items.length, total);
});

const deployment = (name: string, more: string, inMetadata = '', inTemplate = '') =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}","labels":{"app":"nginx"}${inMetadata}},"spec":{${more}` +
  `"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"labels":{"app":"nginx"}${inTemplate}},` +
  '"spec":{"containers":[{"name":"nginx","image":"nginx:latest"}]}}}}';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

test('FieldValidation should detect unknown and duplicate fields of a typed object', async () => {
  const bad = deployment('strict', '"replicas":1,"unknownField":"x","replicas":2,');
  const message = async (method: 'POST' | 'PATCH', path: string, body: string, headers: Record<string, string>) => {
    const answer = await api.call(method, `${path}?fieldValidation=Strict`, { body, headers });
    return [answer.status, answer.body.message];
  };
  assert.deepEqual(await message('POST', deployments, bad, { 'content-type': 'application/json' }), [
    400,
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas"',
  ]);
  const yaml = [
    ...['apiVersion: apps/v1', 'kind: Deployment', 'metadata:', '  name: strict', 'spec:', '  replicas: 1', '  unknownField: x', '  replicas: 2'],
    ...['  selector: { matchLabels: { app: nginx } }', '  template:', '    metadata: { labels: { app: nginx } }'],
    '    spec: { containers: [{ name: nginx, image: "nginx:latest" }] }',
  ].join('\n');
  assert.deepEqual(await message('POST', deployments, yaml, { 'content-type': 'application/yaml' }), [
    400,
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: yaml: unmarshal errors:\n  line 8: key "replicas" already set in map, unknown field "spec.unknownField"',
  ]);
  await created(deployments, JSON.parse(deployment('strict', '')));
  const patch = '{"spec":{"replicas":1,"unknownField":"x","replicas":2}}';
  const reason = 'strict decoding error: duplicate field "spec.replicas", unknown field "spec.unknownField"';
  const [status, text] = await message('PATCH', `${deployments}/strict`, patch, merge); // names the whole object that the patch makes
  assert.equal(status, 422);
  assert.ok(text.startsWith(' "" is invalid: patch: Invalid value: "{') && text.endsWith(`}": ${reason}`), text);
  assert.deepEqual(await message('PATCH', `${deployments}/strict`, patch, strategic), [
    422,
    ` "" is invalid: patch: Invalid value: "map[spec:map[replicas:2 unknownField:x]]": ${reason}`,
  ]);
  const applied = `${deployments}/strict?fieldValidation=Strict&fieldManager=mgr&force=true`;
  const unknown = await api.call('PATCH', applied, { body: deployment('strict', '"unknownField":"x",'), headers: applyPatch });
  assert.deepEqual(
    [unknown.status, unknown.body.message],
    [500, 'failed to create typed patch object (/strict; apps/v1, Kind=Deployment): .spec.unknownField: field not declared in schema'],
  );
  const twice = await api.call('PATCH', applied, { body: yaml.replace('  unknownField: x\n', ''), headers: applyPatch });
  assert.equal(twice.status, 400);
  assert.match(twice.body.message, /error strict decoding YAML: .*line 7: key "replicas" already set in map/s);
  const warned = await api.call('POST', `${deployments}?fieldValidation=Warn`, { body: bad.replace('strict', 'warned') });
  assert.equal(warned.status, 201);
  assert.equal(warned.headers['warning'], '299 - "unknown field \\"spec.unknownField\\"", 299 - "duplicate field \\"spec.replicas\\""');
});

test('FieldValidation should detect unknown metadata fields of a typed object', async () => {
  const body = deployment('strict-meta', '', ',"unknownMeta":"unknown"', ',"unknownSubMeta":"unknown"');
  const posted = await api.call('POST', `${deployments}?fieldValidation=Strict`, { body });
  assert.equal(posted.status, 400);
  assert.match(
    posted.body.message,
    /strict decoding error: unknown field "metadata.unknownMeta", unknown field "spec.template.metadata.unknownSubMeta"$/,
  );
  const applied = await api.call('PATCH', `${deployments}/strict-meta?fieldValidation=Strict&fieldManager=mgr`, { body, headers: applyPatch });
  assert.match(applied.body.message, /\.metadata\.unknownMeta: field not declared in schema/);
});

test('Watchers should observe add, update, and delete watch notifications on configmaps', async () => {
  const maps = `${await namespace('watch-three')}/configmaps`;
  const { resourceVersion } = (await api.call('GET', maps)).body.metadata;
  const label = 'watch-this-configmap';
  const watchOf = (selector: string, count: number) =>
    api.watch(`${maps}?watch=1&resourceVersion=${resourceVersion}&labelSelector=${encodeURIComponent(selector)}`, (_, index) => index === count - 1);
  const watches = Promise.all([watchOf(`${label}=A`, 4), watchOf(`${label}=B`, 2), watchOf(`${label} in (A, B)`, 6)]);
  await created(maps, { metadata: { name: 'a', labels: { [label]: 'A' } } });
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '1' } } });
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '2' } } });
  await api.call('DELETE', `${maps}/a`);
  await created(maps, { metadata: { name: 'b', labels: { [label]: 'B' } } });
  await api.call('DELETE', `${maps}/b`);
  const [a, b, both] = await watches;
  const kindsOf = (events: readonly WatchEvent[]) =>
    events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.data?.mutation ?? ''}`);
  assert.deepEqual(kindsOf(a), ['ADDED a ', 'MODIFIED a 1', 'MODIFIED a 2', 'DELETED a 2']);
  assert.deepEqual(kindsOf(b), ['ADDED b ', 'DELETED b ']);
  assert.deepEqual(both, [...a, ...b]);
});

test('Watchers should be able to start watching from a specific resource version', async () => {
  const maps = `${await namespace('watch-from')}/configmaps`;
  await created(maps, { metadata: { name: 'a' } });
  const first = await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '1' } } });
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '2' } } });
  await api.call('DELETE', `${maps}/a`);
  const from = `${maps}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=`;
  const events = await api.watch(`${from}${first.body.metadata.resourceVersion}`, ({ type }) => type === 'DELETED');
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.data.mutation]),
    [
      ['MODIFIED', '2'],
      ['DELETED', '2'],
    ],
  );
});

test('Watchers should be able to restart watching from the last resource version observed by the previous watch', async () => {
  const maps = `${await namespace('watch-again')}/configmaps`;
  const { resourceVersion } = (await api.call('GET', maps)).body.metadata;
  const from = (version: string) => `${maps}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${version}`;
  await created(maps, { metadata: { name: 'a' } });
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '1' } } });
  const before = await api.watch(from(resourceVersion), ({ type }) => type === 'MODIFIED');
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '2' } } });
  await api.call('DELETE', `${maps}/a`);
  const after = await api.watch(from(before.at(-1)?.object.metadata.resourceVersion), ({ type }) => type === 'DELETED');
  assert.deepEqual(
    after.map(({ type, object }) => [type, object.data.mutation]),
    [
      ['MODIFIED', '2'],
      ['DELETED', '2'],
    ],
  );
});

test('Watchers should observe an object deletion if it stops meeting the requirements of the selector', async () => {
  const maps = `${await namespace('watch-leave')}/configmaps`;
  const label = (value: string) => ({ headers: merge, body: { metadata: { labels: { watched: value } } } });
  const first = await created(maps, { metadata: { name: 'a', labels: { watched: 'yes' } } });
  const from = `${maps}?watch=1&labelSelector=watched%3Dyes&resourceVersion=${first.metadata.resourceVersion}`;
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '1' } } });
  const left = await api.call('PATCH', `${maps}/a`, label('no'));
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '2' } } });
  await api.call('PATCH', `${maps}/a`, label('yes'));
  await api.call('PATCH', `${maps}/a`, { headers: merge, body: { data: { mutation: '3' } } });
  await api.call('DELETE', `${maps}/a`);
  const events = await api.watch(from, ({ type, object }) => type === 'DELETED' && object.data.mutation === '3');
  assert.deepEqual(
    events.map(({ type, object }) => `${type} ${object.data.mutation}`),
    ['MODIFIED 1', 'DELETED 1', 'ADDED 2', 'MODIFIED 3', 'DELETED 3'],
  );
  assert.equal(events[1]?.object.metadata.resourceVersion, left.body.metadata.resourceVersion);
});

test('Watchers should receive events on concurrent watches in same order', async () => {
  const maps = `${await namespace('watch-order')}/configmaps`;
  const { resourceVersion } = (await api.call('GET', maps)).body.metadata;
  const changes = 30;
  const writer = async (name: string) => {
    await created(maps, { metadata: { name } });
    for (let index = 0; index < changes; index++)
      await api.call('PATCH', `${maps}/${name}`, { headers: merge, body: { data: { mutation: String(index) } } });
    await api.call('DELETE', `${maps}/${name}`);
  };
  const names = ['a', 'b', 'c'];
  const total = names.length * (changes + 2);
  const mine = `fieldSelector=metadata.name!%3Dkube-root-ca.crt`;
  const full = (version: string) => api.watch(`${maps}?watch=1&${mine}&resourceVersion=${version}`, (_, index) => index === total - 1);
  const live = full(resourceVersion);
  await Promise.all(names.map(writer));
  const events = await live;
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
  assert.deepEqual(
    versions,
    [...versions].sort((one, other) => one - other),
  );
  const later = await Promise.all(
    events
      .slice(0, 20)
      .map(({ object }, index) =>
        api.watch(`${maps}?watch=1&${mine}&resourceVersion=${object.metadata.resourceVersion}`, (_, seen) => seen === total - index - 2),
      ),
  );
  later.forEach((seen, index) => {
    assert.deepEqual(seen, events.slice(index + 1));
  });
});
