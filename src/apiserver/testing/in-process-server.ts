import { generateKeyPairSync } from 'node:crypto';
import { kinds } from '#api/kinds/index.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import type { Transport } from '#client/transport.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import type { Storage } from '#store/storage.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../api-server.ts';
import type { User } from '../request/user.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly body: any;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: Pick<User, 'name'> & Partial<User>;
}

export interface InProcessServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly storage: Storage;
  /** @param url path with query @returns the answer with its JSON parsed */
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, options?: CallOptions): Promise<Answer>;
  /** The events of a watch, parsed, from now on; stop it with the signal. */
  watch(url: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): AsyncGenerator<WatchLine, void, void>;
}

// biome-ignore lint/suspicious/noExplicitAny: see Answer
export type WatchLine = { readonly type: string; readonly object: any };

const master = { name: 'admin', groups: ['system:masters'] };

/** An API server without a socket over a store in memory, called by a member of system:masters unless the call says otherwise. */
export async function inProcessServer(options: Partial<ApiServerOptions> = {}, clock: Clock = systemClock): Promise<InProcessServer> {
  const storage = options.storage ?? createMemoryStorage(clock);
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const serviceAccountKeys = { privateKeyPem: privateKey, publicKeyPem: publicKey };
  const server = await createApiServer({
    ...{ storage, clock, logger: silentLogger, kinds, serviceAccountKeys, serviceAccountIssuer: 'https://issuer' },
    ...options,
  });
  const transports = new Map<string, Transport>();
  const transportAs = (user: CallOptions['as'] & object) => {
    const transport = transports.get(user.name) ?? server.transportAs(user);
    transports.set(user.name, transport);
    return transport;
  };
  const send = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    { body, headers = {}, as = master }: CallOptions,
    signal: AbortSignal,
  ) => {
    const [path = '', query = ''] = url.split('?');
    const text = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    return transportAs(as).send({ method, path, query: new URLSearchParams(query), headers, body: text }, signal);
  };
  return {
    server,
    storage,
    async call(method, url, callOptions = {}) {
      const { status, headers, body } = await send(method, url, callOptions, new AbortController().signal);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      return { status, headers, body: text.startsWith('{') ? JSON.parse(text) : text };
    },
    async *watch(url, signal, headers = {}) {
      const { body } = await send('GET', url, { headers }, signal);
      let rest = '';
      for await (const chunk of body) {
        const lines = (rest + Buffer.from(chunk).toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line);
      }
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await storage.close();
    },
  };
}

/** The first events of a watch. */
export async function take(events: AsyncGenerator<WatchLine, void, void>, count: number): Promise<readonly WatchLine[]> {
  const taken: WatchLine[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}
