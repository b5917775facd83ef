import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const nodes = '/api/v1/nodes';
const types = { json: 'json-patch+json', merge: 'merge-patch+json', strategic: 'strategic-merge-patch+json' } as const;

async function withNode(): Promise<InProcessServer> {
  const api = await inProcessServer();
  await api.call('POST', nodes, { body: { metadata: { name: 'n' } } });
  return api;
}

const patch = async (api: InProcessServer, type: keyof typeof types, body: unknown, query = '', path = `${nodes}/n`) => {
  const answer = await api.call('PATCH', `${path}${query}`, { body, headers: { 'content-type': `application/${types[type]}` } });
  return { ...answer, told: [answer.status, answer.body.reason, answer.body.message] };
};

test('given a type of patch that nobody knows, then 415 lists those that there are', async () => {
  await using api = await withNode();
  const { status, body } = await api.call('PATCH', `${nodes}/n`, { body: {}, headers: { 'content-type': 'application/json' } });
  assert.deepEqual(
    [status, body.message],
    [
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, ' +
        'application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
    ],
  );
});

test('given a patch that cannot be read, then 400 with the words of the parser', async () => {
  await using api = await withNode();
  const bad = "invalid character '}' looking for beginning of value";
  assert.deepEqual((await patch(api, 'json', '[{"op":}]')).told, [400, 'BadRequest', `error decoding patch: ${bad}`]);
  assert.deepEqual((await patch(api, 'merge', '{"a":}')).told, [400, 'BadRequest', `error decoding patch: ${bad}`]);
  assert.deepEqual((await patch(api, 'strategic', '{"a":}')).told, [400, 'BadRequest', bad]);
  const wrong = (type: string, goType: string) => `json: cannot unmarshal ${type} into Go value of type ${goType}`;
  assert.deepEqual((await patch(api, 'json', {})).told, [400, 'BadRequest', `error decoding patch: ${wrong('object', '[]interface {}')}`]);
  assert.deepEqual((await patch(api, 'merge', [])).told, [400, 'BadRequest', `error decoding patch: ${wrong('array', 'map[string]interface {}')}`]);
  assert.deepEqual((await patch(api, 'strategic', '"x"')).told, [400, 'BadRequest', wrong('string', 'map[string]interface {}')]);
});

test('given an operation that fails, then 422 says no more than that', async () => {
  await using api = await withNode();
  const generic = [422, 'Invalid', 'the server rejected our request due to an error in our request'];
  for (const operation of [
    { op: 'test', path: '/metadata/name', value: 'other' },
    { op: 'remove', path: '/spec/gone' },
    { op: 'fly', path: '/spec' },
  ]) {
    assert.deepEqual((await patch(api, 'json', [operation])).told, generic);
  }
});

test('given more than 10000 operations, then 413', async () => {
  await using api = await withNode();
  const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Node' }));
  assert.deepEqual((await patch(api, 'json', operations)).told, [
    413,
    'RequestEntityTooLarge',
    'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  ]);
});

test('given a strategic patch with bad directives, then 400 names the format, a contradiction is 500', async () => {
  await using api = await withNode();
  const taint = { key: 'a', effect: 'NoSchedule' };
  const told = async (body: object) => (await patch(api, 'strategic', body)).told;
  assert.deepEqual(await told({ metadata: { '$setElementOrder/finalizers': 'x' } }), [
    400,
    'BadRequest',
    'invalid patch format of setElementOrder list',
  ]);
  assert.deepEqual(await told({ metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } }), [
    400,
    'BadRequest',
    'invalid patch format of primitive list',
  ]);
  assert.deepEqual(await told({ spec: { $patch: 'burn', taints: [taint] } }), [
    500,
    undefined,
    'unknown patch type: burn in map: map[$patch:burn taints:[map[effect:NoSchedule key:a]]]',
  ]);
  assert.deepEqual(await told({ status: { conditions: [{ status: 'True' }] } }), [
    500,
    undefined,
    'map: map[status:True] does not contain declared merge key: type',
  ]);
  const order = { '$setElementOrder/conditions': [{ type: 'A' }], conditions: [{ type: 'B', status: 'True' }] };
  assert.deepEqual(await told({ status: order }), [
    500,
    undefined,
    "The order in patch list:\n[map[status:True type:B]]\n doesn't match $setElementOrder list:\n[map[type:A]]\n",
  ]);
});

test('given a patch that makes the object unreadable, then 422 shows what it would have been', async () => {
  await using api = await inProcessServer();
  await api.call('POST', nodes, { body: { metadata: { name: 'n' } } });
  const detail = 'json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool';
  const merged = await patch(api, 'merge', { spec: { unschedulable: 'x' } });
  assert.equal(merged.status, 422);
  assert.ok(merged.body.message.startsWith(' "" is invalid: patch: Invalid value: "{\\"'), merged.body.message);
  assert.ok(merged.body.message.endsWith(`: ${detail}`), merged.body.message);
  const strategic = await patch(api, 'strategic', { spec: { unschedulable: 'x' } });
  assert.ok(strategic.body.message.startsWith(' "" is invalid: patch: Invalid value: "map[spec:map[unschedulable:x]]": '), strategic.body.message);
});

test('given unknown and repeated fields in a patch, then Strict refuses with 422, Warn tells, Ignore says nothing', async () => {
  await using api = await withNode();
  const strict = '?fieldValidation=Strict';
  const text = '{"spec":{"foo":"bar","unschedulable":true,"unschedulable":true}}';
  const complaints = 'strict decoding error: duplicate field "spec.unschedulable", unknown field "spec.foo"';
  const merged = await patch(api, 'merge', text, strict);
  assert.deepEqual([merged.status, merged.body.message.endsWith(`: ${complaints}`)], [422, true]);
  const strategic = await patch(api, 'strategic', { spec: { foo: 'bar' } }, strict);
  const shown = ' "" is invalid: patch: Invalid value: "map[spec:map[foo:bar]]": strict decoding error: unknown field "spec.foo"';
  assert.deepEqual([strategic.status, strategic.body.message], [422, shown]);
  const listed = await patch(api, 'json', [{ op: 'add', path: '/spec/foo', value: 1 }], strict);
  assert.deepEqual([listed.status, listed.body.message.endsWith(': strict decoding error: unknown field "spec.foo"')], [422, true]);
  const warned = await patch(api, 'merge', text);
  const warnings = ['duplicate field \\"spec.unschedulable\\"', 'unknown field \\"spec.foo\\"'].map((warning) => `299 - "${warning}"`);
  assert.deepEqual([warned.status, warned.headers['warning']], [200, warnings.join(', ')]);
  assert.equal((await patch(api, 'merge', text, '?fieldValidation=Ignore')).headers['warning'], undefined);
});

test('given force without an apply, or options that are not known, then 422 names them', async () => {
  await using api = await withNode();
  const message = async (query: string) => (await patch(api, 'merge', {}, query)).body.message;
  const options = 'PatchOptions.meta.k8s.io "" is invalid';
  assert.equal(await message('?force=true'), `${options}: force: Forbidden: may not be specified for non-apply patch`);
  assert.equal(await message('?dryRun=x'), `${options}: dryRun: Unsupported value: ["x"]: supported values: "All"`);
  assert.equal(
    await message('?fieldValidation=x'),
    `${options}: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"`,
  );
});

test('20: given a PATCH without RV racing updates, then it is retried; with RV it is a conflict', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('POST', maps, { body: { metadata: { name: 'm' } } });
  const racing = Array.from({ length: 20 }, (_, at) => patch(api, 'merge', { data: { [`k${at}`]: 'v' } }, '', `${maps}/m`));
  assert.deepEqual(new Set((await Promise.all(racing)).map(({ status }) => status)), new Set([200]));
  assert.equal(Object.keys((await api.call('GET', `${maps}/m`)).body.data).length, 20);
  const locked = await patch(api, 'merge', { metadata: { resourceVersion: body.metadata.resourceVersion }, data: { x: 'y' } }, '', `${maps}/m`);
  assert.deepEqual(locked.told, [
    409,
    'Conflict',
    'Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to the latest version and try again',
  ]);
  assert.deepEqual((await patch(api, 'merge', {}, '', `${maps}/none`)).told, [404, 'NotFound', 'configmaps "none" not found']);
});

test('43: given a kubelet’s patch of node status with two addresses of one type, then it holds', async () => {
  await using api = await withNode();
  const addresses = [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: 'fd00::1' },
  ];
  const path = `${nodes}/n/status`;
  const first = await patch(api, 'strategic', { status: { addresses: [{ $patch: 'replace' }, ...addresses] } }, '', path);
  assert.deepEqual([first.status, first.body.status.addresses], [200, addresses]);
  const more = [...addresses, { type: 'Hostname', address: 'n' }];
  const second = await patch(api, 'strategic', { status: { addresses: [...more, { $patch: 'replace' }] } }, '', path);
  assert.deepEqual([second.status, second.body.status.addresses], [200, more]);
});
