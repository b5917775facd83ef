import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const merge = { 'content-type': 'application/merge-patch+json' };

test('a created object has what the server says itself, and nothing else of that from the client', async () => {
  await using api = await inProcessServer();
  const given = { metadata: { name: 'a', uid: 'mine', creationTimestamp: null, selfLink: '/x', managedFields: [] }, data: { k: 'v' } };
  const { status, body } = await api.call('POST', configMaps, { body: given });
  assert.equal(status, 201);
  const { uid, creationTimestamp, resourceVersion, managedFields, ...metadata } = body.metadata;
  assert.deepEqual({ ...body, metadata }, { ...configMap('a'), metadata: { name: 'a', namespace: 'default' }, data: { k: 'v' } });
  assert.match(uid, /^[0-9a-f-]{36}$/);
  assert.match(creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(resourceVersion, /^\d+$/);
  assert.deepEqual(managedFields[0].fieldsV1, { 'f:data': { '.': {}, 'f:k': {} } });
  assert.deepEqual((await api.call('GET', `${configMaps}/a`)).body, body);
});

test('a name that is taken is refused, a generated one is made up', async () => {
  await using api = await inProcessServer();
  await api.call('POST', configMaps, { body: configMap('a') });
  const again = await api.call('POST', configMaps, { body: configMap('a') });
  assert.deepEqual([again.status, again.body.reason, again.body.message], [409, 'AlreadyExists', 'configmaps "a" already exists']);
  const generated = await api.call('POST', configMaps, { body: { metadata: { generateName: 'a-' } } });
  assert.match(generated.body.metadata.name, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('an object to be created carries no revision and names no other namespace', async () => {
  await using api = await inProcessServer();
  const versioned = await api.call('POST', configMaps, { body: { metadata: { name: 'a', resourceVersion: '5' } } });
  assert.deepEqual([versioned.status, versioned.body.message], [500, 'resourceVersion should not be set on objects to be created']);
  const elsewhere = await api.call('POST', configMaps, { body: { metadata: { name: 'a', namespace: 'b' } } });
  assert.equal(elsewhere.body.message, 'the namespace of the provided object does not match the namespace sent on the request');
});

test('a dry run answers as if, and stores nothing', async () => {
  await using api = await inProcessServer();
  const { status, body } = await api.call('POST', `${configMaps}?dryRun=All`, { body: configMap('a') });
  assert.deepEqual([status, body.metadata.name, body.metadata.resourceVersion], [201, 'a', undefined]);
  assert.equal((await api.call('GET', `${configMaps}/a`)).status, 404);
  const unknown = await api.call('POST', `${configMaps}?dryRun=Some`, { body: configMap('a') });
  assert.equal(unknown.body.message, 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"');
});

test('an update with an old revision is a conflict, without one the last write wins', async () => {
  await using api = await inProcessServer();
  const { body: first } = await api.call('POST', configMaps, { body: configMap('a') });
  const second = await api.call('PUT', `${configMaps}/a`, { body: { ...first, data: { k: '1' } } });
  assert.equal(second.status, 200);
  const stale = await api.call('PUT', `${configMaps}/a`, { body: { ...first, data: { k: '2' } } });
  assert.equal(
    stale.body.message,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  const anyState = await api.call('PUT', `${configMaps}/a`, { body: configMap('a', { data: { k: '3' } }) });
  assert.deepEqual([anyState.status, anyState.body.data, anyState.body.metadata.uid], [200, { k: '3' }, first.metadata.uid]);
});

test('what changes nothing is not written', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('POST', configMaps, { body: configMap('a', { data: { k: 'v' } }) });
  const put = await api.call('PUT', `${configMaps}/a`, { body });
  const patch = await api.call('PATCH', `${configMaps}/a`, { body: { data: { k: 'v' } }, headers: merge });
  assert.deepEqual(
    [put.body.metadata.resourceVersion, patch.body.metadata.resourceVersion],
    [body.metadata.resourceVersion, body.metadata.resourceVersion],
  );
});

test('a body that names another object or another life of it is refused', async () => {
  await using api = await inProcessServer();
  await api.call('POST', configMaps, { body: configMap('a') });
  const name = await api.call('PUT', `${configMaps}/a`, { body: configMap('b') });
  assert.equal(name.body.message, 'the name of the object (b) does not match the name on the URL (a)');
  const uid = await api.call('PUT', `${configMaps}/a`, { body: { ...configMap('a'), metadata: { name: 'a', uid: 'other' } } });
  assert.deepEqual([uid.status, /Precondition failed: UID in precondition: other, UID in object meta: /.test(uid.body.message)], [409, true]);
});

test('patches of three kinds change an object, a revision in them is a lock', async () => {
  await using api = await inProcessServer();
  await api.call('POST', configMaps, { body: configMap('a', { data: { k: 'v', gone: 'x' } }) });
  await api.call('PATCH', `${configMaps}/a`, { body: { data: { gone: null } }, headers: merge });
  await api.call('PATCH', `${configMaps}/a`, { body: { data: { s: '1' } }, headers: { 'content-type': 'application/strategic-merge-patch+json' } });
  const json = [{ op: 'add', path: '/data/j', value: '2' }];
  const { body } = await api.call('PATCH', `${configMaps}/a`, { body: json, headers: { 'content-type': 'application/json-patch+json' } });
  assert.deepEqual(body.data, { k: 'v', s: '1', j: '2' });
  const locked = await api.call('PATCH', `${configMaps}/a`, { body: { metadata: { resourceVersion: '1' }, data: { k: 'w' } }, headers: merge });
  assert.equal(locked.status, 409);
  const missing = await api.call('PATCH', `${configMaps}/a`, {
    body: [{ op: 'test', path: '/data/k', value: 'other' }],
    headers: { 'content-type': 'application/json-patch+json' },
  });
  assert.deepEqual([missing.status, missing.body.message], [422, 'the server rejected our request due to an error in our request']);
  const unknown = await api.call('PATCH', `${configMaps}/a`, { body: {}, headers: { 'content-type': 'application/json' } });
  assert.equal(
    unknown.body.message,
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, ' +
      'application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
  );
});

test('patches that race all arrive', async () => {
  await using api = await inProcessServer();
  await api.call('POST', configMaps, { body: configMap('a') });
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const answers = await Promise.all(keys.map((key) => api.call('PATCH', `${configMaps}/a`, { body: { data: { [key]: 'v' } }, headers: merge })));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.deepEqual(Object.keys((await api.call('GET', `${configMaps}/a`)).body.data).sort(), keys.sort());
});

test('an unknown field is told, refused or passed over, as the client wishes', async () => {
  await using api = await inProcessServer();
  const body = configMap('a', { foo: 1 });
  const warned = await api.call('POST', configMaps, { body });
  assert.deepEqual([warned.status, warned.headers['warning'], warned.body.foo], [201, '299 - "unknown field \\"foo\\""', undefined]);
  const strict = await api.call('POST', `${configMaps}?fieldValidation=Strict`, { body });
  assert.deepEqual(
    [strict.status, strict.body.message],
    [400, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"'],
  );
  const ignored = await api.call('POST', `${configMaps}?fieldValidation=Ignore`, { body: { ...body, metadata: { name: 'b' } } });
  assert.deepEqual([ignored.status, ignored.headers['warning']], [201, undefined]);
});

test('what cannot be read is a bad request, what is too large is refused', async () => {
  await using api = await inProcessServer();
  const broken = await api.call('POST', configMaps, { body: '{"a":' });
  assert.equal(broken.status, 400);
  assert.match(
    broken.body.message,
    /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: /,
  );
  const type = await api.call('POST', configMaps, { body: configMap('a', { data: { k: 1 } }) });
  assert.match(type.body.message, /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number/);
  const large = await api.call('POST', configMaps, { body: 'x'.repeat(3 * 1024 * 1024 + 1) });
  assert.deepEqual([large.status, large.body.message], [413, 'Request entity too large: limit is 3145728']);
  const unknown = await api.call('POST', configMaps, { body: 'x', headers: { 'content-type': 'text/plain' } });
  assert.equal(unknown.status, 415);
});

test('a body may be YAML, and so may the answer', async () => {
  await using api = await inProcessServer();
  const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' };
  const { status, body } = await api.call('POST', configMaps, { body: 'metadata:\n  name: a\ndata: {k: v}\n', headers });
  assert.equal(status, 201);
  assert.match(body, /^apiVersion: v1\ndata:\n {2}k: v\nkind: ConfigMap\n/);
});
