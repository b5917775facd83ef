import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TarEntry, writeTar } from '#cluster/images/tar.ts';
import { freePort } from './free-port.ts';

/** What the proxy before the registry does with a request instead of passing it on. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  /** Passes on when the promise is done. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  /** The first half of the answer, and the rest when the promise is done. */
  | { readonly kind: 'paused'; readonly until: Promise<void> }
  /** The first half of the answer, then the connection breaks. */
  | { readonly kind: 'cut' }
  /** The right length, other bytes. */
  | { readonly kind: 'garbled' };

export interface TestRegistry {
  /** `127.0.0.1:<port>`: how images name it. */
  readonly host: string;
  /** `GET /v2/app/manifests/1` and so on: every request that reached the proxy, in order. */
  readonly requests: readonly string[];
  /** Asked for each request; `undefined` passes it on. */
  fault: (line: string) => Fault | undefined;
  /** Is done when the client has broken off a request that matches. */
  brokenOff(line: RegExp): Promise<void>;
  /** Makes an image that runs busybox, with a layer of its own. */
  push(name: string, options?: PushOptions): Promise<PushedImage>;
  stop(): Promise<void>;
}

export interface PushOptions {
  /** Of random bytes in the layer; default 1000. */
  readonly paddingBytes?: number;
}

export interface PushedImage {
  /** `<host>/<name>` */
  readonly reference: string;
  readonly layerDigest: string;
}

export interface RegistryOptions {
  /**
   * `basic`: Debian's registry checks a password file. `token`: the proxy is its token server, which takes the same name and password, or the
   * identity token. Default: open to all.
   */
  readonly authentication?: 'none' | 'basic' | 'token';
}

export const registryUser = { name: 'alice', password: 'open sesame', identityToken: 'alice-was-here' } as const;
const passwordFile = `${registryUser.name}:$2b$05$daWPAdOTfEKwTK.qVuIkN.T0RPz0MnTouyGQEx.8CCs0O99Pgxcd.\n`; // bcrypt is all it takes
const basicAuthorization = `Basic ${Buffer.from(`${registryUser.name}:${registryUser.password}`).toString('base64')}`;
const startsWithinMs = 15_000;

/** Debian's `docker-registry`, with a proxy before it that can do what a bad network does. */
export async function startRegistry({ authentication = 'none' }: RegistryOptions = {}): Promise<TestRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'kubernode-registry-'));
  const backendPort = await freePort();
  const stopBackend = await startBackend(folder, backendPort, authentication === 'basic');
  const requests: string[] = [];
  const breaks = new EventEmitter();
  const token = randomBytes(16).toString('hex');
  const proxy = createServer((incoming, outgoing) => {
    const line = `${incoming.method} ${incoming.url}`;
    requests.push(line);
    outgoing.on('close', () => {
      if (!outgoing.writableEnded) breaks.emit('broken', line);
    });
    if (authentication === 'token' && !isTokenAccepted(incoming, outgoing, token)) return;
    answer(incoming, outgoing, registry.fault(line), backendPort);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const registry: TestRegistry = {
    host,
    requests,
    fault: () => undefined,
    brokenOff: (pattern) =>
      new Promise((resolve) => {
        const look = (line: string) => {
          if (!pattern.test(line)) return;
          breaks.off('broken', look);
          resolve();
        };
        breaks.on('broken', look);
      }),
    push: (name, options) => pushImage({ host, backendPort, authorization: authentication === 'basic' ? basicAuthorization : '' }, name, options),
    async stop() {
      await closed(proxy);
      await stopBackend();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return registry;
}

async function startBackend(folder: string, port: number, withPasswords: boolean): Promise<() => Promise<void>> {
  await writeFile(join(folder, 'htpasswd'), passwordFile);
  const config = {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'blobs') } },
    http: { addr: `127.0.0.1:${port}`, relativeurls: true },
    ...(withPasswords ? { auth: { htpasswd: { realm: 'tests', path: join(folder, 'htpasswd') } } } : {}),
  };
  await writeFile(join(folder, 'config.yml'), JSON.stringify(config)); // JSON is YAML
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`docker-registry does not listen:\n${text}`)), startsWithinMs);
    child.once('error', reject);
    child.once('close', () => reject(new Error(`docker-registry ended:\n${text}`)));
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (!text.includes('listening on')) return;
      clearTimeout(late);
      resolve();
    });
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}

/** The registry's side of token authentication, and the token server in one. */
function isTokenAccepted(incoming: IncomingMessage, outgoing: ServerResponse, token: string): boolean {
  const isForToken = incoming.url?.startsWith('/token') === true;
  if (!isForToken && incoming.headers.authorization === `Bearer ${token}`) return true;
  if (!isForToken) {
    const realm = `Bearer realm="http://${incoming.headers.host}/token",service="tests"`;
    outgoing.writeHead(401, { 'www-authenticate': realm, 'content-type': 'application/json' });
    outgoing.end('{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}');
    return false;
  }
  let form = '';
  incoming.on('data', (chunk: Buffer) => {
    form += chunk.toString('utf8');
  });
  incoming.on('end', () => {
    const fields = new URLSearchParams(form);
    const isKnown =
      incoming.headers.authorization === basicAuthorization ||
      fields.get('refresh_token') === registryUser.identityToken ||
      (fields.get('username') === registryUser.name && fields.get('password') === registryUser.password);
    outgoing.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(isKnown ? { token, access_token: token, expires_in: 300 } : { details: 'incorrect username or password' }));
  });
  return false;
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined, backendPort: number): void {
  const pass = () => forward(incoming, outgoing, fault, backendPort);
  if (fault?.kind === 'held') {
    void fault.until.then(pass);
  } else if (fault?.kind === 'status') {
    outgoing.writeHead(fault.status, { 'content-type': 'application/json' });
    outgoing.end('{"errors":[]}');
  } else pass();
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined, port: number): void {
  const { method, url, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    if (fault?.kind !== 'cut' && fault?.kind !== 'garbled' && fault?.kind !== 'paused') {
      response.pipe(outgoing);
      return;
    }
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      const body = Buffer.concat(chunks);
      if (fault.kind === 'garbled') outgoing.end(Buffer.alloc(body.length, 7));
      else if (fault.kind === 'paused') {
        outgoing.write(body.subarray(0, body.length / 2));
        void fault.until.then(() => outgoing.end(body.subarray(body.length / 2)));
      } else outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    });
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy()); // the client gave up
  incoming.pipe(onward);
}

interface PushTarget {
  readonly host: string;
  readonly backendPort: number;
  readonly authorization: string;
}

async function pushImage(target: PushTarget, name: string, { paddingBytes = 1000 }: PushOptions = {}): Promise<PushedImage> {
  const [repository = '', tag = 'latest'] = name.split(':');
  const files: TarEntry[] = [
    { kind: 'directory', path: 'bin', mode: 0o755 },
    { kind: 'file', path: 'bin/busybox', mode: 0o755, content: await readFile('/bin/busybox') },
    ...['sh', 'sleep', 'cat'].map((applet) => ({ kind: 'symlink', path: `bin/${applet}`, target: 'busybox' }) as const),
    { kind: 'file', path: 'padding', mode: 0o644, content: randomBytes(paddingBytes) },
  ];
  const layer = Buffer.from(await writeTar(files));
  const layerDigest = digestOf(layer);
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const config = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Cmd: ['sleep', '100000'] },
      rootfs: { type: 'layers', diff_ids: [layerDigest] },
    }),
  );
  const of = (mediaType: string, bytes: Buffer) => ({
    mediaType: `application/vnd.oci.image.${mediaType}`,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: of('config.v1+json', config),
      layers: [of('layer.v1.tar', layer)],
    }),
  );
  const headers = target.authorization === '' ? {} : { authorization: target.authorization };
  const base = `http://127.0.0.1:${target.backendPort}`;
  for (const blob of [layer, config]) {
    const begun = await must(fetch(`${base}/v2/${repository}/blobs/uploads/`, { method: 'POST', headers }));
    const place = new URL(begun.headers.get('location') ?? '', base);
    place.searchParams.set('digest', digestOf(blob));
    await must(fetch(place, { method: 'PUT', headers: { ...headers, 'content-type': 'application/octet-stream' }, body: new Uint8Array(blob) }));
  }
  const type = { 'content-type': 'application/vnd.oci.image.manifest.v1+json' };
  await must(fetch(`${base}/v2/${repository}/manifests/${tag}`, { method: 'PUT', headers: { ...headers, ...type }, body: new Uint8Array(manifest) }));
  return { reference: `${target.host}/${name}`, layerDigest };
}

async function must(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`the registry answered ${response.status} to ${response.url}: ${await response.text()}`);
  await response.arrayBuffer(); // frees the connection
  return response;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
