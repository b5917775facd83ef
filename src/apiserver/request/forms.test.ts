import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { schemaOf } from '#api/schema/message-schema.ts';
import { decodeProtobuf } from '#api/schema/protobuf/decode.ts';
import { decodeEnvelope } from '#api/schema/protobuf/envelope.ts';
import { type InProcessServer, inProcessServer, take } from '../testing/in-process-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const protobuf = 'application/vnd.kubernetes.protobuf';
const never = new AbortController().signal;

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

async function raw(api: InProcessServer, url: string, headers: Readonly<Record<string, string>>, body?: object): Promise<RawAnswer> {
  const [path = '', query = ''] = url.split('?');
  const transport = api.server.transportAs({ name: 'admin', groups: ['system:masters'] });
  const method = body === undefined ? 'GET' : 'POST';
  const request = { method, path, query: new URLSearchParams(query), headers, body: body === undefined ? undefined : JSON.stringify(body) } as const;
  const answer = await transport.send(request, never);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return { status: answer.status, headers: answer.headers, bytes: Buffer.concat(chunks) };
}

async function withOne(): Promise<InProcessServer> {
  const api = await inProcessServer();
  await api.call('POST', configMaps, { body: { metadata: { name: 'a', labels: { yes: 'no' } }, data: { on: 'yes', k: 'v' } } });
  return api;
}

function decoded(message: string, bytes: Uint8Array) {
  const { apiVersion, kind, raw: inner } = decodeEnvelope(bytes);
  return { apiVersion, kind, ...decodeProtobuf(schemaOf(message), inner) };
}

test('given an empty list, then `items` is `[]`, never null or missing', async () => {
  await using api = await inProcessServer();
  for (const accept of ['application/json', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1']) {
    assert.deepEqual((await api.call('GET', '/api/v1/secrets', { headers: { accept } })).body.items, []);
  }
  assert.deepEqual(parse((await raw(api, '/api/v1/secrets', { accept: 'application/yaml' })).bytes.toString()).items, []);
});

test('given GET list JSON of built-ins, then items have no kind/apiVersion, but watch events’ objects do', async () => {
  await using api = await withOne();
  const { body } = await api.call('GET', configMaps);
  assert.deepEqual([body.items[0].kind, body.items[0].apiVersion, body.items[0].metadata.name], [undefined, undefined, 'a']);
  const stop = new AbortController();
  const [event] = await take(api.watch(`${configMaps}?watch=1`, stop.signal), 1);
  assert.deepEqual([event?.object.kind, event?.object.apiVersion], ['ConfigMap', 'v1']);
  stop.abort();
});

test('whoever takes JSON beside protobuf gets JSON', async () => {
  await using api = await withOne();
  for (const accept of [`${protobuf},application/json`, `${protobuf};q=1,application/json;q=0.1`, `${protobuf}, */*`]) {
    const { headers, bytes } = await raw(api, `${configMaps}/a`, { accept });
    assert.deepEqual([headers['content-type'], JSON.parse(bytes.toString()).metadata.name], ['application/json', 'a']);
  }
});

test('whoever takes nothing but protobuf gets objects, lists, metadata and failures in it', async () => {
  await using api = await withOne();
  const accept = { accept: protobuf };
  const { body: json } = await api.call('GET', `${configMaps}/a`);
  // In protobuf nobody can tell an empty name from none.
  json.metadata.managedFields = json.metadata.managedFields.map(({ manager: _, ...entry }: { readonly manager: string }) => entry);
  const object = await raw(api, `${configMaps}/a`, accept);
  assert.equal(object.headers['content-type'], protobuf);
  assert.deepEqual(decoded('core.v1.ConfigMap', object.bytes), json);
  const { apiVersion: _, kind: __, ...item } = json;
  const list = await raw(api, configMaps, accept);
  assert.deepEqual(decoded('core.v1.ConfigMapList', list.bytes), {
    apiVersion: 'v1',
    kind: 'ConfigMapList',
    metadata: { resourceVersion: json.metadata.resourceVersion },
    items: [item],
  });
  const metadata = await raw(api, `${configMaps}/a`, { accept: `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1` });
  const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: json.metadata };
  assert.deepEqual(decoded('meta.v1.PartialObjectMetadata', metadata.bytes), partial);
  const failure = await raw(api, `${configMaps}/none`, accept);
  const { message, code, kind } = { message: '', code: 0, ...decoded('meta.v1.Status', failure.bytes) };
  assert.deepEqual([failure.status, kind, message, code], [404, 'Status', 'configmaps "none" not found', 404]);
  const created = await raw(api, configMaps, { ...accept, 'content-type': 'application/json' }, { metadata: { name: 'made' } });
  assert.deepEqual([created.status, decoded('core.v1.ConfigMap', created.bytes).kind], [201, 'ConfigMap']);
});

test('a watch in protobuf is frames of events, each with an object in its envelope', async () => {
  await using api = await withOne();
  const query = 'watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const { headers, bytes } = await raw(api, `${configMaps}?${query}`, { accept: protobuf });
  assert.equal(headers['content-type'], `${protobuf};stream=watch`);
  const events: { readonly type: unknown; readonly name: unknown }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const frame = bytes.subarray(at + 4, end);
    // 1: type, 2: RawExtension { 1: the object }
    const typeEnd = 2 + (frame[1] ?? 0);
    const inner = frame.subarray(frame.indexOf('k8s\0'));
    events.push({
      type: frame.toString('utf8', 2, typeEnd),
      name: { metadata: { name: undefined }, ...decoded('core.v1.ConfigMap', inner) }.metadata.name,
    });
    at = end;
  }
  assert.deepEqual(events, [
    { type: 'ADDED', name: 'a' },
    { type: 'BOOKMARK', name: undefined },
  ]);
});

test('YAML has sorted keys, and words that old readers take for truth values in quotes', async () => {
  await using api = await withOne();
  const { headers, bytes } = await raw(api, `${configMaps}/a`, { accept: 'application/yaml' });
  assert.equal(headers['content-type'], 'application/yaml');
  const text = bytes.toString();
  assert.match(text, /^apiVersion: v1\ndata:\n {2}k: v\n {2}"on": "yes"\nkind: ConfigMap\nmetadata:\n/);
  assert.deepEqual(parse(text), (await api.call('GET', `${configMaps}/a`)).body);
  const failure = await raw(api, `${configMaps}/none`, { accept: 'application/yaml' });
  assert.equal(parse(failure.bytes.toString()).message, 'configmaps "none" not found');
});

test('what nobody can write is refused with the list of what can be had, in JSON', async () => {
  await using api = await withOne();
  const refused = async (url: string, accept: string) => {
    const { status, headers, bytes } = await raw(api, url, { accept });
    return [status, headers['content-type'], JSON.parse(bytes.toString()).message];
  };
  const accepted = 'only the following media types are accepted';
  const all = `application/json, application/yaml, ${protobuf}`;
  assert.deepEqual(await refused(configMaps, 'text/html'), [406, 'application/json', `${accepted}: ${all}`]);
  assert.deepEqual(await refused(configMaps, 'application/cbor'), [406, 'application/json', `${accepted}: ${all}`]);
  const streams = `application/json;stream=watch, ${protobuf};stream=watch`;
  assert.deepEqual(
    parse((await raw(api, `${configMaps}?watch=1`, { accept: 'application/yaml' })).bytes.toString()).message,
    `${accepted}: ${streams}`,
  );
  assert.equal((await refused(configMaps, `${protobuf};as=Table;g=meta.k8s.io;v=v1`))[0], 406);
});

test('a body in a form that nobody reads is refused with the list of those that are', async () => {
  await using api = await inProcessServer();
  const { status, body } = await api.call('POST', configMaps, { body: { metadata: { name: 'x' } }, headers: { 'content-type': 'text/csv' } });
  const message = `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobuf}`;
  assert.deepEqual([status, body.reason, body.message], [415, 'UnsupportedMediaType', message]);
});

test('metadata of a list, or the list of an object, is refused by the name of what was found', async () => {
  await using api = await withOne();
  const refusal = async (url: string, as: string) => {
    const { status, body } = await api.call('GET', url, { headers: { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } });
    return [status, body.reason, body.message];
  };
  assert.deepEqual(await refusal(configMaps, 'PartialObjectMetadata'), [
    406,
    'NotAcceptable',
    'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
  ]);
  assert.deepEqual(await refusal(`${configMaps}/a`, 'PartialObjectMetadataList'), [
    406,
    'NotAcceptable',
    'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
  ]);
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test('given `Accept: application/json;as=Table…, application/json` for a Status error, then plain Status', async () => {
  await using api = await inProcessServer();
  const { status, body } = await api.call('GET', `${configMaps}/none`, { headers: { accept: `${table}, application/json` } });
  assert.deepEqual([status, body.kind, body.apiVersion], [404, 'Status', 'v1']);
});

test('given Accept Table watch, then columnDefinitions only in the first event, whatever it is', async () => {
  await using api = await withOne();
  const stop = new AbortController();
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const [first, mark] = await take(api.watch(`${configMaps}?${query}`, stop.signal, { accept: table }), 2);
  stop.abort();
  assert.deepEqual([first?.type, first?.object.columnDefinitions.length, first?.object.rows[0].cells[0]], ['ADDED', 3, 'a']);
  assert.deepEqual([mark?.type, mark?.object.kind, mark?.object.columnDefinitions], ['BOOKMARK', 'Table', null]);
  assert.equal(mark?.object.rows[0].object.metadata.annotations['k8s.io/initial-events-end'], 'true');
  const again = new AbortController();
  const [only] = await take(api.watch(`/api/v1/secrets?${query}`, again.signal, { accept: table }), 1);
  again.abort();
  assert.deepEqual([only?.type, only?.object.columnDefinitions.length > 0], ['BOOKMARK', true]);
});

test('a row holds the metadata, the object or nothing; other wishes are refused', async () => {
  await using api = await withOne();
  const row = async (include: string) =>
    (await api.call('GET', `${configMaps}?includeObject=${include}`, { headers: { accept: table } })).body.rows[0].object;
  assert.deepEqual(
    [(await row('')).kind, (await row('Metadata')).kind, (await row('Object')).kind, await row('None')],
    ['PartialObjectMetadata', 'PartialObjectMetadata', 'ConfigMap', null],
  );
  const { status, body } = await api.call('GET', `${configMaps}?includeObject=All`, { headers: { accept: table } });
  const message = `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`;
  assert.deepEqual([status, body.message], [400, message]);
  assert.equal((await api.call('GET', `${configMaps}?includeObject=All`)).status, 200);
});

test('a question that is answered and not stored has no table: 406', async () => {
  await using api = await inProcessServer();
  const url = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const body = { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } };
  const refused = await api.call('POST', url, { body, headers: { accept: table } });
  assert.deepEqual([refused.status, refused.body.reason], [406, 'NotAcceptable']);
  assert.equal((await api.call('POST', url, { body, headers: { accept: `${table},application/json` } })).body.status.allowed, true);
});

test('every kind in every version can be listed in every form, also when there is none', async () => {
  await using api = await inProcessServer();
  const { body } = await api.call('GET', '/apis');
  const versions: readonly string[] = body.groups.flatMap(({ versions: all }: { readonly versions: readonly { readonly groupVersion: string }[] }) =>
    all.map(({ groupVersion }) => `/apis/${groupVersion}`),
  );
  const transform = (as: string) => `application/json;as=${as};v=v1;g=meta.k8s.io`;
  const forms = { Table: transform('Table'), PartialObjectMetadataList: transform('PartialObjectMetadataList') };
  let listed = 0;
  for (const path of ['/api/v1', ...versions]) {
    const { body: resources } = await api.call('GET', path);
    for (const { name, kind, verbs } of resources.resources) {
      if (!verbs.includes('list')) continue;
      for (const [as, accept] of Object.entries(forms)) {
        const answer = await api.call('GET', `${path}/${name}`, { headers: { accept } });
        assert.deepEqual([path, name, answer.status, answer.body.kind], [path, name, 200, as]);
      }
      const binary = await raw(api, `${path}/${name}`, { accept: protobuf });
      assert.deepEqual([path, name, binary.status, decodeEnvelope(binary.bytes).kind], [path, name, 200, `${kind}List`]);
      listed++;
    }
  }
  assert.ok(listed > 40, `${listed}`);
});

test('indented for people: by parameter, by Accept, by program', async () => {
  await using api = await withOne();
  const isIndented = async (query: string, headers: Readonly<Record<string, string>>) =>
    (await raw(api, `${configMaps}/a${query}`, headers)).bytes.toString().startsWith('{\n  "apiVersion"');
  assert.equal(await isIndented('', {}), false);
  assert.equal(await isIndented('?pretty=true', {}), true);
  assert.equal(await isIndented('?pretty=', { 'user-agent': 'curl/8.1' }), true);
  assert.equal(await isIndented('?pretty=false', { 'user-agent': 'curl/8.1' }), false);
  assert.equal(await isIndented('', { accept: 'application/json;pretty=1' }), true);
  for (const program of ['Wget/1.2', 'Mozilla/5.0 (X11)']) assert.equal(await isIndented('', { 'user-agent': program }), true);
  assert.ok((await raw(api, `${configMaps}/a`, {})).bytes.toString().endsWith('}\n'));
});

test('given a list > 128 KiB and Accept-Encoding gzip, then gzip; watch never', async () => {
  await using api = await inProcessServer();
  const accepts = { 'accept-encoding': 'deflate, gzip' };
  await api.call('POST', configMaps, { body: { metadata: { name: 'small' }, data: { k: 'v'.repeat(100_000) } } });
  assert.equal((await raw(api, configMaps, accepts)).headers['content-encoding'], undefined);
  await api.call('POST', configMaps, { body: { metadata: { name: 'more' }, data: { k: 'v'.repeat(100_000) } } });
  const { headers, bytes } = await raw(api, configMaps, accepts);
  assert.deepEqual([headers['content-encoding'], headers['vary']], ['gzip', 'Accept-Encoding']);
  assert.equal(JSON.parse(gunzipSync(bytes).toString()).items.length, 2);
  assert.equal((await raw(api, configMaps, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined);
  const watch = await raw(api, `${configMaps}?watch=1&timeoutSeconds=1`, accepts);
  assert.deepEqual([watch.headers['content-encoding'], watch.bytes.toString().split('\n').length], [undefined, 3]);
});
