import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { after, test } from 'node:test';
import { Server as GrpcServer, status as grpcCode, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import type { Probe } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { networkHttpGet, networkProbers } from '#kubelet/probes/network-clients.ts';
import { type ProbeOutcome, runProbe } from '#kubelet/probes/run-probe.ts';
import { createAuthority, issueCertificate } from '#pki/certificate.ts';

const never = new AbortController().signal;
const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const serve = (handle: RequestListener): Promise<number> => listen(createHttpServer(handle));

function ask(probe: Probe): Promise<ProbeOutcome> {
  const runtime = { execSync: () => assert.fail('no command here') };
  const deps = { runtime, probers: networkProbers(systemClock), clock: systemClock, userAgent: 'kube-probe/1.36' };
  return runProbe(probe, { container: { name: 'c' }, containerId: 'id', podIp: '127.0.0.1' }, deps, never);
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

test('an HTTP probe sends what a probe sends, and nothing else', async () => {
  const seen: unknown[] = [];
  const port = await serve((request, response) => {
    seen.push(request.method, request.url, request.headers);
    response.end('ok');
  });
  const outcome = await ask({
    httpGet: {
      port,
      path: '/healthz?full=1',
      httpHeaders: [
        { name: 'X-A', value: 'a' },
        { name: 'Host', value: 'example.com' },
      ],
    },
  });
  assert.deepEqual(outcome, { kind: 'success' });
  const headers = { 'user-agent': 'kube-probe/1.36', accept: '*/*', 'x-a': 'a', host: 'example.com', connection: 'close' };
  assert.deepEqual(seen, ['GET', '/healthz?full=1', headers]);
});

test('an HTTPS probe does not look at the certificate', async () => {
  const authority = await createAuthority({ commonName: 'nobody', clock: systemClock });
  const names = { commonName: 'other', organizations: [], dnsNames: ['other'], ipAddresses: [] };
  const { certPem: cert, keyPem: key } = await issueCertificate({ authority, ...names, usages: 'server', validMs: 3_600_000, clock: systemClock });
  const port = await listen(createHttpsServer({ cert, key }, (_, response) => response.end('ok')));
  assert.deepEqual(await ask({ httpGet: { port, scheme: 'HTTPS' } }), { kind: 'success' });
});

test('an answer that never ends is read as far as a probe reads', async () => {
  const port = await serve((_, response) => {
    const chunk = Buffer.alloc(4096);
    const more = (): void => void (response.destroyed || (response.write(chunk) ? setImmediate(more) : response.once('drain', more)));
    more();
  });
  assert.deepEqual(await ask({ httpGet: { port } }), { kind: 'success' });
});

test('what does not answer, hangs or is refused has failed, in the words that users know', async () => {
  const refused = await closedPort();
  const http = `Get "http://127.0.0.1:${refused}/": dial tcp 127.0.0.1:${refused}: connect: connection refused`;
  assert.deepEqual(await ask({ httpGet: { port: refused } }), { kind: 'failure', output: http });
  assert.deepEqual(await ask({ tcpSocket: { port: refused } }), {
    kind: 'failure',
    output: `dial tcp 127.0.0.1:${refused}: connect: connection refused`,
  });
  const silent = await serve(() => undefined);
  const late = `Get "http://127.0.0.1:${silent}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
  assert.deepEqual(await ask({ httpGet: { port: silent } }), { kind: 'failure', output: late });
  const garbage = await listen(createTcpServer((socket) => socket.end('garbage\n')));
  assert.equal((await ask({ httpGet: { port: garbage } })).kind, 'failure');
});

test('a TCP probe connects and leaves', async () => {
  const closed: Promise<unknown>[] = [];
  const port = await listen(createTcpServer((socket) => closed.push(once(socket.resume(), 'close'))));
  assert.deepEqual(await ask({ tcpSocket: { port } }), { kind: 'success' });
  while (closed.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await closed[0];
});

test('a hook gets the status alone', async () => {
  const port = await serve((_, response) => response.writeHead(418).end('x'.repeat(100_000)));
  assert.equal(await networkHttpGet.get({ scheme: 'http', host: '127.0.0.1', port, path: '/', headers: [] }, never), 418);
});

/** `HealthCheckRequest { string service = 1 }`, `HealthCheckResponse { enum status = 1 }`, by hand. */
const healthService: ServiceDefinition = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: Buffer) => value,
    requestDeserialize: (bytes: Buffer) => ({ service: bytes.subarray(2).toString() }),
    responseSerialize: (value: number) => Buffer.from([8, value]),
    responseDeserialize: (bytes: Buffer) => bytes,
  },
};

async function serveHealth(services: Readonly<Record<string, number>>): Promise<number> {
  const server = new GrpcServer();
  server.addService(healthService, {
    check: (call: { request: { service: string } }, answer: (error: object | null, status?: number) => void) => {
      const status = services[call.request.service];
      if (call.request.service === 'hangs') return;
      if (status === undefined) answer({ code: grpcCode.NOT_FOUND, details: 'unknown service' });
      else answer(null, status);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  after(() => server.forceShutdown());
  return port;
}

test('a gRPC probe asks the health service of the server or of one of its services', async () => {
  const port = await serveHealth({ '': 1, good: 1, bad: 2 });
  assert.deepEqual(await ask({ grpc: { port } }), { kind: 'success' });
  assert.deepEqual(await ask({ grpc: { port, service: 'good' } }), { kind: 'success' });
  assert.deepEqual(await ask({ grpc: { port, service: 'bad' } }), { kind: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' });
  const missing = await ask({ grpc: { port, service: 'missing' } });
  assert.deepEqual(missing, { kind: 'failure', output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service' });
  assert.deepEqual(await ask({ grpc: { port, service: 'hangs' } }), { kind: 'failure', output: 'timeout: health rpc did not complete within 1s' });
});

test('a gRPC server that is not there, or has no health service, has failed', async () => {
  const refused = await closedPort();
  const late = `timeout: failed to connect service "127.0.0.1:${refused}" within 1s: context deadline exceeded`;
  assert.deepEqual(await ask({ grpc: { port: refused } }), { kind: 'failure', output: late });
  const bare = new GrpcServer();
  const port = await new Promise<number>((resolve) =>
    bare.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_, bound) => resolve(bound)),
  );
  after(() => bare.forceShutdown());
  const outcome = await ask({ grpc: { port } });
  assert.match(
    outcome.kind === 'failure' ? outcome.output : '',
    /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): /,
  );
});
