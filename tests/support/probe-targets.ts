import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { Server as GrpcServer, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { systemClock } from '#base/clock.ts';
import { createAuthority, issueCertificate } from '#pki/certificate.ts';

/** Servers on the host: what probes of pods with the host's network reach. */
export interface ProbeTargets extends AsyncDisposable {
  /** `/ok` is fine, `/away` redirects to another host, everything else is not there. */
  readonly http: number;
  /** The same, with a certificate that nobody trusts. */
  readonly https: number;
  readonly tcp: number;
  /** Its service `good` serves, every other one does not. */
  readonly grpc: number;
  /** Nobody listens there. */
  readonly closed: number;
  /** Headers of the requests for a path. */
  headersOf(path: string): readonly IncomingHttpHeaders[];
}

export async function startProbeTargets(): Promise<ProbeTargets> {
  const seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const handle: RequestListener = (request, response) => {
    seen.push({ path: request.url ?? '', headers: request.headers });
    if (request.url === '/away') response.writeHead(302, { location: 'http://elsewhere.invalid/' }).end('gone away');
    else response.writeHead(request.url?.startsWith('/ok') === true ? 200 : 503).end();
  };
  const authority = await createAuthority({ commonName: 'nobody', clock: systemClock });
  const names = { commonName: 'other', organizations: [], dnsNames: ['other'], ipAddresses: [] };
  const { certPem: cert, keyPem: key } = await issueCertificate({ authority, ...names, usages: 'server', validMs: 3_600_000, clock: systemClock });
  const servers = [
    createHttpServer(handle),
    createHttpsServer({ cert, key }, handle),
    createTcpServer((socket) => socket.resume()),
    createTcpServer(),
  ];
  const [http = 0, https = 0, tcp = 0, closed = 0] = await Promise.all(servers.map(listen));
  servers.pop()?.close();
  const health = new GrpcServer();
  health.addService(healthService, {
    check: (call: { request: { service: string } }, answer: (error: null, status: number) => void) =>
      answer(null, call.request.service === 'good' ? SERVING : NOT_SERVING),
  });
  const grpc = await new Promise<number>((resolve, reject) => {
    health.bindAsync('0.0.0.0:0', ServerCredentials.createInsecure(), (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return {
    http,
    https,
    tcp,
    grpc,
    closed,
    headersOf: (path) => seen.filter((one) => one.path === path).map(({ headers }) => headers),
    async [Symbol.asyncDispose]() {
      health.forceShutdown();
      for (const server of servers) server.close();
    },
  };
}

const SERVING = 1;
const NOT_SERVING = 2;

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

async function listen(server: Server): Promise<number> {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
