import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { test } from 'node:test';
import { createGunzip } from 'node:zlib';
import { systemClock } from '#base/clock.ts';
import { createAuthority, type IssuedCertificate, issueCertificate } from '#pki/certificate.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly certificate?: IssuedCertificate;
}

async function open(api: TestApiServer, { method = 'GET', path, body, headers = {}, certificate }: Sent): Promise<IncomingMessage> {
  const options: RequestOptions = { host: '127.0.0.1', port: api.port, ca: api.caPem, agent: false, method, path, headers };
  const outgoing = request(certificate === undefined ? options : { ...options, cert: certificate.certPem, key: certificate.keyPem });
  outgoing.end(body);
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  return message;
}

async function send(api: TestApiServer, sent: Sent): Promise<{ readonly status: number; readonly text: string; readonly message: IncomingMessage }> {
  const message = await open(api, sent);
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return { status: message.statusCode ?? 0, text: Buffer.concat(chunks).toString(), message };
}

test('who a client is comes from its certificate, its token, or nowhere', async () => {
  await using api = await startApiServer({ staticTokens: new Map([['secret', { name: 'jane', groups: ['system:masters'] }]]) });
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  assert.equal((await send(api, { path: '/api/v1/namespaces', certificate })).status, 200);
  assert.equal((await send(api, { path: '/api/v1/namespaces', headers: { authorization: 'Bearer secret' } })).status, 200);
  assert.equal((await send(api, { path: '/api/v1/namespaces', headers: { authorization: 'Bearer other' } })).status, 401);
  const anonymous = await send(api, { path: '/api/v1/namespaces' });
  assert.match(anonymous.text, /User \\"system:anonymous\\" cannot list resource \\"namespaces\\"/);
  assert.equal((await send(api, { path: '/livez' })).text, 'ok');
  const stranger = await createAuthority({ commonName: 'stranger', clock: systemClock });
  const forged = await issueCertificate({
    ...{
      authority: stranger,
      commonName: 'admin',
      organizations: ['system:masters'],
      dnsNames: [],
      ipAddresses: [],
      usages: 'client',
      validMs: 60_000,
    },
    clock: systemClock,
  });
  assert.equal((await send(api, { path: '/api/v1/namespaces', certificate: forged })).status, 401);
});

test('a certificate for servers is no identity of a client', async () => {
  await using api = await startApiServer();
  const serving = await api.servingCertificate('admin', ['system:masters']);
  assert.equal((await send(api, { path: '/api/v1/namespaces', certificate: serving })).status, 401);
});

test('a body that is too large is refused, whether its size is told or not', async () => {
  await using api = await startApiServer();
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  const body = Buffer.alloc(3 * 1024 * 1024 + 1, ' ');
  const told = await send(api, { method: 'POST', path: configMaps, body, certificate, headers: { 'content-length': String(body.length) } });
  assert.equal(told.status, 413);
  const chunked = await send(api, { method: 'POST', path: configMaps, body, certificate, headers: { 'transfer-encoding': 'chunked' } });
  assert.deepEqual([chunked.status, JSON.parse(chunked.text).message], [413, 'Request entity too large: limit is 3145728']);
});

test('a large answer is compressed for those who take it', async () => {
  await using api = await startApiServer();
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  const object = { metadata: { name: 'large' }, data: { k: 'v'.repeat(200_000) } };
  await send(api, { method: 'POST', path: configMaps, body: JSON.stringify(object), certificate });
  const packed = await open(api, { path: configMaps, certificate, headers: { 'accept-encoding': 'gzip' } });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  const chunks: Buffer[] = [];
  for await (const chunk of packed.pipe(createGunzip())) chunks.push(chunk);
  assert.equal(JSON.parse(Buffer.concat(chunks).toString()).items[0].data.k.length, 200_000);
  assert.equal((await send(api, { path: `${configMaps}/large`, certificate })).message.headers['content-encoding'], undefined);
});

test('a watch begins at once, is written as it happens, and ends well when the server closes', async () => {
  await using api = await startApiServer();
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  const stream = await open(api, { path: `${configMaps}?watch=1`, certificate });
  assert.equal(stream.headers['transfer-encoding'], 'chunked');
  const first = once(stream, 'data');
  await send(api, { method: 'POST', path: configMaps, body: '{"metadata":{"name":"a"}}', certificate });
  assert.match(String((await first)[0]), /^\{"type":"ADDED","object":\{"apiVersion":"v1","kind":"ConfigMap",.*\}\n$/s);
  const ended = once(stream, 'end');
  const startedAt = performance.now();
  await api.server.close();
  await ended;
  assert.ok(performance.now() - startedAt < 1_000, 'it waited for the grace of cutting');
});

test('a watcher that does not read is cut off, others do not notice', async () => {
  await using api = await startApiServer();
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  const lazy = await open(api, { path: `${configMaps}?watch=1`, certificate });
  lazy.pause();
  lazy.socket.pause();
  const eager = await open(api, { path: `${configMaps}?watch=1`, certificate });
  let seen = 0;
  eager.on('data', (chunk: Buffer) => {
    seen += chunk.toString().split('"type":').length - 1;
  });
  const text = 'v'.repeat(900_000);
  const count = 60; // more than a watcher's queue and the socket's buffers hold together
  for (let index = 0; index < count; index++) {
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { k: `${index}${text}` } });
    const { status } = await send(api, {
      method: index === 0 ? 'POST' : 'PUT',
      path: index === 0 ? configMaps : `${configMaps}/a`,
      body,
      certificate,
    });
    assert.ok(status === 200 || status === 201);
  }
  const closed = once(lazy, 'close');
  lazy.socket.resume();
  lazy.resume();
  await closed;
  for (let waited = 0; seen < count && waited < 100; waited++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(seen, count);
});

test('a token of a WebSocket comes as a protocol', async () => {
  await using api = await startApiServer({ staticTokens: new Map([['secret', { name: 'jane', groups: ['system:masters'] }]]) });
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`;
  const upgrade = (protocols: string) => ({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocols });
  assert.equal((await send(api, { path: '/api/v1/nodes', headers: upgrade(`v4.channel.k8s.io, ${token}`) })).status, 200);
  assert.equal((await send(api, { path: '/api/v1/nodes', headers: upgrade(token) })).status, 401); // none is left to answer with
});

test('a request for an upgrade that nobody offers is answered as any other', async () => {
  await using api = await startApiServer();
  const certificate = await api.clientCertificate('admin', ['system:masters']);
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };
  const { status, text } = await send(api, { path: '/version', certificate, headers });
  assert.deepEqual([status, JSON.parse(text).major], [200, '1']);
  assert.equal((await send(api, { path: '/api/v1/namespaces/a/pods/p/exec', headers })).status, 403);
});

test('other API servers find the authority of clients, and the new one after a restart with another', async () => {
  const storage = createMemoryStorage(systemClock);
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  for (let round = 0; round < 2; round++) {
    await using api = await startApiServer({ storage });
    const certificate = await api.clientCertificate('admin', ['system:masters']);
    const watched = `${path.replace(/[^/]*$/, '')}?watch=true&fieldSelector=metadata.name%3Dextension-apiserver-authentication`;
    const message = await open(api, { path: watched, certificate });
    let text = '';
    for await (const chunk of message) {
      text += String(chunk);
      if (text.includes(JSON.stringify(api.caPem).slice(1, -1))) break;
    }
    const { data } = JSON.parse((await send(api, { path, certificate })).text) as { data: object };
    assert.deepEqual(data, { 'client-ca-file': api.caPem });
  }
  await storage.close();
});
