import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Cancelled, Unavailable } from '#base/errors.ts';
import type { Transport } from '#client/transport.ts';
import { createHttpTransport } from '#wire/http/transport.ts';

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

async function serve(handle: RequestListener): Promise<{ transport: Transport; server: Server; url: string }> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport: Transport = createHttpTransport({ server: url, token: 'secret' }); // the annotation checks that the shapes match
  closers.push(() => {
    void transport.close();
    server.close();
    server.closeAllConnections();
  });
  return { transport, server, url };
}

const aGet = { method: 'GET', path: '/a', query: new URLSearchParams(), headers: {}, body: undefined } as const;
const never = new AbortController().signal;

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('a request arrives whole, with its token, and its answer comes back', async () => {
  const { transport } = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(201, { 'x-kind': 'test' });
    response.end(JSON.stringify([request.method, request.url, request.headers.authorization, request.headers['content-type'], body]));
  });
  const query = new URLSearchParams({ labelSelector: 'a=b,c' });
  const request = { method: 'POST', path: '/api', query, headers: { 'content-type': 'application/json' }, body: '{}' } as const;
  const response = await transport.send(request, never);
  assert.equal(response.status, 201);
  assert.equal(response.headers['x-kind'], 'test');
  assert.deepEqual(JSON.parse(await textOf(response.body)), ['POST', '/api?labelSelector=a%3Db%2Cc', 'Bearer secret', 'application/json', '{}']);
});

test('a body is not read faster than it is taken', async () => {
  let written = 0;
  const { transport } = await serve((_, response) => {
    const chunk = Buffer.alloc(1 << 16);
    const more = (): void => {
      while (written < 64 << 20 && response.write(chunk)) written += chunk.length;
      if (written < 64 << 20) response.once('drain', more);
    };
    more();
  });
  const { body } = await transport.send(aGet, never);
  for await (const _ of body) break;
  assert.ok(written < 32 << 20, `${written} bytes were taken in`);
});

test('leaving the loop early ends the exchange on the server', async () => {
  const closed = deferred();
  const { transport } = await serve((request, response) => {
    request.socket.once('close', () => closed.resolve(undefined));
    response.write('first');
  });
  const { body } = await transport.send(aGet, never);
  for await (const _ of body) break;
  await closed.promise;
});

test('an aborted signal is Cancelled before the answer and in the middle of the body', async () => {
  const { transport } = await serve((request, response) => {
    if (request.url === '/a') response.write('first');
  });
  const early = new AbortController();
  const waiting = transport.send({ ...aGet, path: '/silent' }, early.signal);
  setImmediate(() => early.abort());
  await assert.rejects(waiting, Cancelled);
  const late = new AbortController();
  const { body } = await transport.send(aGet, late.signal);
  await assert.rejects(async () => {
    for await (const _ of body) late.abort();
  }, Cancelled);
});

test('a server that is gone is Unavailable, whether it never listened or died in the middle', async () => {
  const { transport, server } = await serve((_, response) => {
    response.write('first');
    setImmediate(() => response.destroy());
  });
  const { body } = await transport.send(aGet, never);
  await assert.rejects(textOf(body), Unavailable);
  server.close();
  server.closeAllConnections();
  await assert.rejects(transport.send(aGet, never), Unavailable);
});

test('a kept connection that the server closed while idle does not fail the next read', async () => {
  const { transport, server } = await serve((_, response) => response.end('ok'));
  assert.equal(await textOf((await transport.send(aGet, never)).body), 'ok');
  const sending = transport.send(aGet, never);
  server.closeAllConnections();
  assert.equal(await textOf((await sending).body), 'ok');
});

test('close ends what is open', async () => {
  const { transport } = await serve((_, response) => {
    response.write('first');
  });
  const { body } = await transport.send(aGet, never);
  await transport.close();
  await assert.rejects(textOf(body), Unavailable);
});

function deferred(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
