import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { WebSocket } from 'ws';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const authorization = 'Bearer secret';
const tokenProtocol = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`;

let api: TestApiServer;
const agent = new Agent({ keepAlive: true });

before(async () => {
  api = await startApiServer({ staticTokens: new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]) });
  for (const name of ['a', 'b']) await send('POST', configMaps, JSON.stringify({ metadata: { name } }));
});
after(async () => {
  agent.destroy();
  await api[Symbol.asyncDispose]();
});

interface Got {
  readonly status: number;
  readonly message: IncomingMessage;
  readonly text: string;
}

async function send(method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
  const outgoing = request({ host: '127.0.0.1', port: api.port, ca: api.caPem, agent, method, path, headers: { authorization, ...headers } });
  outgoing.end(body);
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return { status: message.statusCode ?? 0, message, text: Buffer.concat(chunks).toString() };
}

test('HEAD is GET without its body', async () => {
  const whole = await send('GET', `${configMaps}/a`);
  const head = await send('HEAD', `${configMaps}/a`);
  assert.deepEqual([head.status, head.text, head.message.headers['content-length']], [200, '', String(whole.text.length)]);
  assert.equal((await send('HEAD', `${configMaps}/none`)).status, 404);
});

test('methods that nobody has are refused, and the connection goes on', async () => {
  for (const [method, path] of [
    ['OPTIONS', configMaps],
    ['TRACE', `${configMaps}/a`],
    ['POST', `${configMaps}/a`],
    ['PUT', configMaps],
    ['DELETE', '/api/v1/namespaces'],
    ['POST', '/version'],
  ] as const) {
    assert.deepEqual([method, path, (await send(method, path)).status], [method, path, 405]);
  }
  assert.equal((await send('GET', configMaps)).status, 200);
});

test('headers have a limit, and what is no HTTP is told so', async () => {
  assert.equal((await send('GET', configMaps, undefined, { 'x-long': 'x'.repeat(200_000) })).status, 200);
  const answers = async (bytes: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port: api.port, ca: api.caPem });
    socket.on('error', () => undefined);
    socket.write(bytes);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text.split('\r\n')[0] ?? '';
  };
  assert.equal(await answers(`GET / HTTP/1.1\r\nx-long: ${'x'.repeat(1_100_000)}\r\n\r\n`), 'HTTP/1.1 431 Request Header Fields Too Large');
  assert.equal(await answers('nonsense\r\n\r\n'), 'HTTP/1.1 400 Bad Request');
});

test('a document of OpenAPI is known by its tag and by its hash', async () => {
  const document = await send('GET', '/openapi/v2', undefined, { accept: 'application/json' });
  assert.equal(JSON.parse(document.text).swagger, '2.0');
  const etag = document.message.headers['etag'] ?? '';
  assert.equal((await send('GET', '/openapi/v2', undefined, { accept: 'application/json', 'if-none-match': etag })).status, 304);
  const binary = await send('GET', '/openapi/v2', undefined, { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' });
  assert.equal(binary.message.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  assert.equal((await send('GET', '/openapi/v2', undefined, { accept: 'text/html' })).status, 406);
  const index = JSON.parse((await send('GET', '/openapi/v3')).text);
  const url: string = index.paths['api/v1'].serverRelativeURL;
  const { message } = await send('GET', url);
  assert.deepEqual(
    [message.headers['cache-control'], new Date(message.headers['expires'] ?? '').getTime() > Date.now() + 3e10],
    ['public, immutable', true],
  );
  const moved = await send('GET', '/openapi/v3/api/v1?hash=old');
  assert.deepEqual([moved.status, moved.message.headers['location']], [301, url]);
});

/** The messages of a watch over a WebSocket until it is closed. */
async function webSocketWatch(query: string, protocols: readonly string[], headers: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const socket = new WebSocket(`wss://127.0.0.1:${api.port}${configMaps}?watch=true&timeoutSeconds=1${query}`, [...protocols], {
    ca: api.caPem,
    headers,
  });
  const messages: string[] = [];
  socket.on('message', (data, isBinary) => messages.push(isBinary ? 'binary' : String(data)));
  socket.on('error', () => undefined);
  const refused = once(socket, 'unexpected-response').then(([, message]) => messages.push(`refused ${(message as IncomingMessage).statusCode}`));
  await Promise.race([once(socket, 'close'), refused]);
  return messages;
}

test('a watch over a WebSocket is one text message an event, and ends with a close', async () => {
  const events = (await webSocketWatch('', [], { authorization })).map((text) => JSON.parse(text));
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.kind, object.metadata.name]),
    [
      ['ADDED', 'ConfigMap', 'a'],
      ['ADDED', 'ConfigMap', 'b'],
    ],
  );
});

test('a browser brings its token among the protocols, and gets the other one', async () => {
  assert.equal((await webSocketWatch('', [tokenProtocol, 'binary.k8s.io'], {})).length, 2);
});

test('a watch that cannot begin is refused before there is a WebSocket', async () => {
  assert.deepEqual(await webSocketWatch('&fieldSelector=spec.x%3D1', [], { authorization }), ['refused 400']);
  assert.deepEqual(await webSocketWatch('', [], {}), ['refused 403']);
});

test('a watch begins with its headers at once, and ends cleanly at its time', async () => {
  const outgoing = request({
    host: '127.0.0.1',
    port: api.port,
    ca: api.caPem,
    agent,
    path: `${configMaps}?watch=1&resourceVersion=${await newest()}&timeoutSeconds=1`,
    headers: { authorization },
  });
  outgoing.end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  assert.deepEqual([message.statusCode, message.headers['transfer-encoding'], message.headers['content-type']], [200, 'chunked', 'application/json']);
  let text = '';
  for await (const chunk of message) text += String(chunk);
  assert.deepEqual([text, message.complete], ['', true]);
});

async function newest(): Promise<string> {
  return JSON.parse((await send('GET', configMaps)).text).metadata.resourceVersion;
}
