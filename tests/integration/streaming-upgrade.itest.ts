import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, test } from 'node:test';
import { WebSocket } from 'ws';
import { systemClock } from '#base/clock.ts';
import { Unavailable } from '#base/errors.ts';
import { ProtocolRefused, proxyUpgrade } from '#wire/http/upgrade.ts';
import { headerPairs } from '#wire/http/upgrade-head.ts';

const servers: Server[] = [];
const sockets = new Set<Duplex>();
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type OnUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

async function aBackend(onUpgrade: OnUpgrade): Promise<string> {
  const server = createServer();
  server.on('upgrade', (request, socket, head) => onUpgrade(request, socket as Socket, head));
  return await listen(server);
}

interface Proxy {
  readonly address: string;
  /** How the newest exchange ended. */
  ended(): Promise<unknown>;
  readonly abort: AbortController;
}

async function aProxy(backend: string): Promise<Proxy> {
  const abort = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    const client = { method: request.method ?? '', headers: headerPairs(request.rawHeaders), socket, head };
    last = proxyUpgrade(client, { url: new URL(`http://${backend}/there?output=1`) }, systemClock, abort.signal).catch((error: unknown) => {
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return error;
    });
  });
  return { address: await listen(server), ended: () => last, abort };
}

const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n';

function openSpdy(address: string, firstBytes = ''): Socket {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host);
  sockets.add(socket);
  socket.write(
    `POST /here HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n${firstBytes}`,
  );
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('bytes flow both ways, early ones included, and the head is the target one', async () => {
  const backend = await aBackend((request, socket, head) => {
    socket.write(`${switching}${request.method} ${request.url} ${request.headers.host} ${request.headers.authorization ?? 'no credentials'};`);
    socket.write(head);
    socket.on('data', (chunk) => (String(chunk).includes('bye') ? socket.end('last') : socket.write(chunk)));
  });
  const proxy = await aProxy(backend);
  const client = openSpdy(proxy.address, 'early;');
  client.once('data', () => client.write('bye'));
  const text = await readAll(client);
  assert.equal(text, `${switching}POST /there?output=1 ${backend} no credentials;early;last`);
  assert.equal(await proxy.ended(), undefined);
});

test('a big last answer arrives whole although the backend is gone already', async () => {
  const proxy = await aProxy(await aBackend((_, socket) => socket.end(`${switching}${'x'.repeat(8 << 20)}`)));
  const text = await readAll(openSpdy(proxy.address));
  assert.equal(text.length, switching.length + (8 << 20));
});

test('a client that does not read holds the backend back', async () => {
  let written = 0;
  const backend = await aBackend((_, socket) => {
    socket.write(switching);
    const more = (): void => {
      while (written < 64 << 20 && socket.write(Buffer.alloc(1 << 16))) written += 1 << 16;
      if (written < 64 << 20) socket.once('drain', more);
    };
    more();
  });
  const proxy = await aProxy(backend);
  const client = openSpdy(proxy.address);
  client.pause();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(written < 32 << 20, `${written} bytes were taken in`);
  client.destroy();
  await proxy.ended();
});

test('either end that goes away takes the other with it, and so does the signal', async () => {
  for (const cut of ['client', 'signal'] as const) {
    const opened: Socket[] = [];
    const backend = await aBackend((_, socket) => {
      opened.push(socket);
      socket.write(switching);
    });
    const proxy = await aProxy(backend);
    const client = openSpdy(proxy.address);
    await once(client, 'data');
    client.on('error', () => undefined);
    if (cut === 'client') client.resetAndDestroy();
    else proxy.abort.abort();
    await proxy.ended();
    const [socket] = opened;
    assert.ok(socket !== undefined);
    const gone = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
    if (!socket.resume().on('error', () => undefined).destroyed) await gone;
  }
});

test('what the backend answers instead of an upgrade reaches the client', async () => {
  const proxy = await aProxy(
    await aBackend((_, socket) => socket.end('HTTP/1.1 500 Internal Server Error\r\nContent-Length: 23\r\n\r\ncontainer not found (c)')),
  );
  const text = await readAll(openSpdy(proxy.address));
  assert.match(text, /^HTTP\/1.1 500 Internal Server Error\r\n(.*\r\n)*\r\ncontainer not found \(c\)$/);
});

test('a redirect is not passed on', async () => {
  const proxy = await aProxy(
    await aBackend((_, socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: http://elsewhere\r\nContent-Length: 0\r\n\r\n')),
  );
  assert.match(
    await readAll(openSpdy(proxy.address)),
    /^HTTP\/1.1 502 .*\r\n\r\nthe backend attempted to redirect this request, which is not permitted$/s,
  );
});

test('a backend that is not there is said in the words that users know', async () => {
  const proxy = await aProxy('127.0.0.1:1');
  await readAll(openSpdy(proxy.address));
  const error = await proxy.ended();
  assert.ok(error instanceof Unavailable);
  assert.equal(error.message, 'dial tcp 127.0.0.1:1: connect: connection refused');
});

test('a WebSocket that offers only version 5 is refused, one with others as well goes on without it', async () => {
  const offers: unknown[] = [];
  const proxy = await aProxy(
    await aBackend((request, socket) => {
      offers.push(request.headers['sec-websocket-protocol']);
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    }),
  );
  const only5 = new WebSocket(`ws://${proxy.address}/`, ['v5.channel.k8s.io']);
  assert.match(String((await once(only5, 'error'))[0]), /Unexpected server response: 400/);
  assert.ok((await proxy.ended()) instanceof ProtocolRefused);
  const both = new WebSocket(`ws://${proxy.address}/`, ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
  assert.match(String((await once(both, 'error'))[0]), /Unexpected server response: 403/);
  assert.deepEqual(offers, ['v4.channel.k8s.io']);
});

/** By hand: the tunnel's name has a slash in it, which WebSocket libraries refuse to offer. */
async function openTunnel(address: string): Promise<{ response: IncomingMessage; socket: Socket }> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io',
  };
  const outgoing = request(`http://${address}/`, { headers }).end();
  return await new Promise((resolve, reject) => {
    outgoing.once('upgrade', (response, socket) => resolve({ response, socket }));
    outgoing.once('response', (response) => resolve({ response, socket: response.socket }));
    outgoing.once('error', reject);
  });
}

/** A short binary message from a client; a mask of zeros leaves the text as it is. */
const binaryMessage = (text: string): Buffer => Buffer.concat([Buffer.from([0x82, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

test('the port-forward tunnel is unwrapped: the backend sees plain SPDY', async () => {
  const heads: unknown[] = [];
  const proxy = await aProxy(
    await aBackend((request, socket) => {
      heads.push([request.method, request.headers.upgrade, request.headers['x-stream-protocol-version'], request.headers['sec-websocket-key']]);
      socket.write(switching);
      socket.on('data', (chunk) => (String(chunk) === 'bye' ? socket.end('last') : socket.write(`echo ${chunk}`)));
    }),
  );
  const { response, socket } = await openTunnel(proxy.address);
  assert.deepEqual([response.statusCode, response.headers['sec-websocket-protocol']], [101, 'SPDY/3.1+portforward.k8s.io']);
  socket.once('data', () => socket.write(binaryMessage('bye')));
  socket.write(binaryMessage('frame'));
  const text = await readAll(socket.setEncoding('latin1'));
  assert.equal(text.slice(0, 18), '\x82\x0aecho frame\x82\x04last');
  assert.equal(text.charAt(18), '\x88'); // close
  assert.deepEqual(heads, [['POST', 'SPDY/3.1', 'portforward.k8s.io', undefined]]);
  socket.destroy();
  await proxy.ended();
});

test('a tunnel to a backend that refuses is refused before the handshake', async () => {
  const proxy = await aProxy(await aBackend((_, socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')));
  const { response } = await openTunnel(proxy.address);
  assert.equal(response.statusCode, 404);
  response.resume();
});
