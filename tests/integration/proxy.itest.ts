import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import { endpointSlice as sliceKind } from '#api/kinds/discovery/v1/endpoint-slice.ts';
import { streamingRoutes } from '#apiserver/subresources/streaming-routes.ts';
import { createClient } from '#client/api-client.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { never } from '../support/host-side.ts';

// What is in a network of pods stands here on an address of this host: loopback is refused.
const address = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

let api: TestApiServer;
let backend: Server;
let port: number;
let certificate: { readonly certPem: string; readonly keyPem: string };

before(async () => {
  if (address === undefined) throw new Error('this host has no address but its own');
  backend = createServer((asked, answer) => {
    if (asked.url === '/page') answer.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/next">next</a>');
    else if (asked.url === '/moved') answer.writeHead(302, { location: '/there' }).end();
    else {
      const told = { method: asked.method, url: asked.url, secret: asked.headers.authorization ?? '', uri: asked.headers['x-forwarded-uri'] };
      void textOf(asked).then((body) =>
        answer.writeHead(200, { 'x-backend': 'yes', 'content-type': 'text/plain' }).end(JSON.stringify({ ...told, body })),
      );
    }
  });
  backend.on('upgrade', (asked, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.end(`hello ${asked.url}`);
  });
  backend.listen(0, address);
  await once(backend, 'listening');
  port = (backend.address() as AddressInfo).port; // it listens on a port
  api = await startApiServer({ extraRoutes: [streamingRoutes({ tls: {} })] });
  certificate = await api.clientCertificate('admin', ['system:masters']);
  const client = createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
  const metadata = { name: 'web', namespace: 'default' };
  await client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } }, never);
  await client.create(podKind, { metadata, spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }] } }, never);
  await client.patch(podKind, metadata, 'merge', { status: { podIP: address, podIPs: [{ ip: address }] } }, 'status', never);
  await client.create(serviceKind, { metadata, spec: { ports: [{ name: 'http', port: 80, targetPort: port }] } }, never);
  const slice = { metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } }, addressType: 'IPv4' };
  await client.create(sliceKind, { ...slice, endpoints: [{ addresses: [address] }], ports: [{ name: 'http', port }] }, never);
});

after(async () => {
  backend.closeAllConnections();
  backend.close();
  await api[Symbol.asyncDispose]();
});

const pods = '/api/v1/namespaces/default/pods';
const services = '/api/v1/namespaces/default/services';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function ask(method: string, path: string, body = ''): Promise<Answer> {
  const { certPem, keyPem } = certificate;
  const headers = body === '' ? {} : { 'content-length': body.length };
  const settings = { host: '127.0.0.1', port: api.port, path, method, headers, ca: api.caPem, cert: certPem, key: keyPem, agent: false };
  const outgoing = request(settings).end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node.js says so
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await textOf(answer) };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

for (const [what, path] of [
  ['a pod', () => `${pods}/web/proxy`],
  ['a pod by its port', () => `${pods}/http:web:${port}/proxy`],
  ['a service by the name of its port', () => `${services}/web:http/proxy`],
  ['a service by the number of its port', () => `${services}/http:web:80/proxy`],
] as const) {
  test(`${what} answers every method through the proxy`, async () => {
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT']) {
      const { status, headers, body } = await ask(method, `${path()}/some%20path?x=1&y=a%2Fb`, method === 'GET' ? '' : 'sent');
      const told = { method, url: '/some%20path?x=1&y=a%2Fb', secret: '', uri: `${path()}/some%20path`, body: method === 'GET' ? '' : 'sent' };
      assert.deepEqual([status, headers['x-backend'], JSON.parse(body)], [200, 'yes', told]);
    }
    const head = await ask('HEAD', `${path()}/x`);
    assert.deepEqual([head.status, head.headers['x-backend'], head.body], [200, 'yes', '']);
  });
}

test('a read of the proxy itself is sent to the slash behind it, other methods go through', async () => {
  const moved = await ask('GET', `${services}/web:80/proxy?a=b`);
  assert.deepEqual([moved.status, moved.headers.location], [301, `${services}/web:80/proxy/?a=b`]);
  assert.equal((await ask('HEAD', `${pods}/web/proxy`)).status, 301);
  assert.equal(JSON.parse((await ask('POST', `${pods}/web/proxy`)).body).url, '/');
});

test('links and redirects of the backend lead through the proxy', async () => {
  const page = await ask('GET', `${pods}/web/proxy/page`);
  assert.equal(page.body, `<a href="${pods}/web/proxy/next">next</a>`);
  const moved = await ask('GET', `${pods}/web/proxy/moved`);
  assert.deepEqual([moved.status, moved.headers.location], [302, `${pods}/web/proxy/there`]);
});

test('a connection may change its protocol', async () => {
  const { certPem, keyPem } = certificate;
  const headers = { connection: 'Upgrade', upgrade: 'echo' };
  const settings = {
    host: '127.0.0.1',
    port: api.port,
    path: `${pods}/web/proxy/talk`,
    headers,
    ca: api.caPem,
    cert: certPem,
    key: keyPem,
    agent: false,
  };
  const outgoing = request(settings).end();
  const [answer, socket, first] = (await once(outgoing, 'upgrade')) as [IncomingMessage, NodeJS.ReadableStream, Buffer]; // Node.js says so
  let said = first.toString();
  for await (const chunk of socket) said += String(chunk);
  assert.deepEqual([answer.statusCode, answer.headers.upgrade, said], [101, 'echo', 'hello /talk']);
});

test('what cannot be reached, or is not there, is told', async () => {
  const messageOf = async (path: string) => {
    const { status, body } = await ask('GET', path);
    return [status, JSON.parse(body).message];
  };
  assert.deepEqual(await messageOf(`${pods}/none/proxy/`), [404, 'pods "none" not found']);
  assert.deepEqual(await messageOf(`${services}/none/proxy/`), [404, 'services "none" not found']);
  assert.deepEqual(await messageOf(`${services}/web:81/proxy/`), [503, 'no service port 81 found for service "web"']);
  assert.deepEqual(await messageOf(`${services}/web:other/proxy/`), [503, 'no endpoints available for service "web:other"']);
  assert.deepEqual(await messageOf(`${pods}/ftp:web:1/proxy/`), [400, 'invalid pod request "ftp:web:1"']);
  assert.deepEqual(await messageOf(`${pods}/web:1/proxy/`), [
    503,
    `error trying to reach service: dial tcp ${address}:1: connect: connection refused`,
  ]);
});
