import * as http from 'node:http';
import * as https from 'node:https';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { AppError, Unavailable } from '#base/errors.ts';
import { dialErrorText } from './client-errors.ts';
import { type HeaderList, headerPairs, headersForBackend } from './upgrade-head.ts';

/** Where a request is sent on to. */
export interface ProxyTarget {
  /** Absolute, `http:` or `https:`, with its query. */
  readonly url: URL;
  readonly tls?: ProxyTls | undefined;
}

export interface ProxyTls {
  /** Absent: the other side's certificate is not checked. */
  readonly caPem?: string | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
}

export interface ProxyRequest {
  readonly method: string;
  readonly headers: HeaderList;
  readonly body?: Uint8Array | undefined;
}

export interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Chunks as they arrive; leaving the loop early ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends a request on and streams its answer. Redirects are answers.
 *
 * @throws {Unavailable} with Go's `dial tcp ...` text when the other side cannot be reached; {Cancelled}
 */
export async function proxyRequest(request: ProxyRequest, target: ProxyTarget, signal: AbortSignal): Promise<ProxyResponse> {
  throwIfAborted(signal);
  const lengths: HeaderList = request.body === undefined ? [] : [['Content-Length', String(request.body.byteLength)]];
  const kept = request.headers.filter(([name]) => request.body === undefined || name.toLowerCase() !== 'content-length');
  const outgoing = openRequest(request.method, target, headersForBackend(kept, target.url.host, lengths));
  const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const forget = onAbort(signal, () => outgoing.destroy(reasonOf(signal)));
    outgoing.once('close', forget);
    outgoing.on('error', (error) => reject(unreachable(error, target)));
    outgoing.once('response', resolve);
    outgoing.end(request.body);
  });
  return { status: incoming.statusCode ?? 502, headers: headersForClient(incoming.rawHeaders), body: bodyOf(incoming, target, signal) };
}

/** Opens the connection on `end()`; its head is exactly what is given. A silent backend is an error, a silent stream is not. */
export function openRequest(method: string, target: ProxyTarget, headers: HeaderList): http.ClientRequest {
  const { url, tls = {} } = target;
  const secure = url.protocol === 'https:';
  const settings: https.RequestOptions = {
    agent: false,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: portOf(url),
    method,
    path: `${url.pathname}${url.search}`,
    setHost: false,
    timeout: connectTimeoutMs,
    headers: headers.flat() as unknown as http.OutgoingHttpHeaders, // Node.js takes a flat list too and keeps its order; its types do not say so
  };
  const secrets: https.RequestOptions = {
    rejectUnauthorized: tls.caPem !== undefined,
    ...(tls.caPem === undefined ? {} : { ca: tls.caPem }),
    ...(tls.certPem === undefined ? {} : { cert: tls.certPem }),
    ...(tls.keyPem === undefined ? {} : { key: tls.keyPem }),
  };
  const outgoing = secure ? https.request({ ...settings, ...secrets }) : http.request(settings);
  outgoing.once('socket', (socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    socket.once(secure ? 'secureConnect' : 'connect', () => socket.setTimeout(answerTimeoutMs));
  });
  outgoing.once('timeout', () => outgoing.destroy(timedOut()));
  for (const answered of ['response', 'upgrade']) outgoing.once(answered, () => outgoing.socket?.setTimeout(0));
  return outgoing;
}

export function unreachable(error: unknown, target: ProxyTarget): AppError {
  if (error instanceof AppError) return error;
  return new Unavailable({ message: dialErrorText(error, target.url.hostname.replace(/^\[(.*)\]$/, '$1'), portOf(target.url)), cause: error });
}

/** 5 s: upstream's dial timeout. */
const connectTimeoutMs = 5_000;
/** 30 s: how long the runtime takes at most to open a stream. */
const answerTimeoutMs = 30_000;
/** Finds out that the other host is gone while a stream is silent. */
const keepAliveMs = 30_000;

async function* bodyOf(incoming: http.IncomingMessage, target: ProxyTarget, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const forget = onAbort(signal, () => incoming.destroy(reasonOf(signal)));
  try {
    for await (const chunk of incoming) yield chunk as Uint8Array; // no encoding is set, so chunks are buffers
  } catch (error) {
    throw unreachable(error, target);
  } finally {
    forget();
  }
}

function headersForClient(rawHeaders: readonly string[]): Record<string, string | readonly string[]> {
  const headers = new Map<string, string | readonly string[]>(); // a name is whatever the backend sent, `constructor` too
  for (const [name, value] of headerPairs(rawHeaders)) {
    const key = name.toLowerCase();
    if (hopByHop.has(key)) continue;
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]);
  }
  return Object.fromEntries(headers);
}

const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'te', 'upgrade', 'proxy-authenticate']);

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

function timedOut(): Error {
  return Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });
}
