import * as http from 'node:http';
import * as https from 'node:https';
import { createSecureContext } from 'node:tls';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { AppError, InvalidInput, messageOf, Unavailable } from '#base/errors.ts';

export interface HttpTransportOptions {
  /** `https://host:port`, or `http://` for a server without TLS. */
  readonly server: string;
  /** Absent: the system's certificate authorities. */
  readonly caPem?: string | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** Bearer token; a function is asked before each request, so that a token may be replaced. */
  readonly token?: string | (() => string) | undefined;
  /** Name to check the server's certificate against, when it is not the host of `server`. */
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
  readonly userAgent?: string | undefined;
}

/** The same shape as `client/transport.ts`, which this layer may not import. */
export interface HttpTransport {
  send(request: HttpTransportRequest, signal: AbortSignal): Promise<HttpTransportResponse>;
  /** Ends every open connection, requests and streams on it included; what is sent from now on has new ones, with these credentials where given, else with those of the last time. */
  redial(credentials?: Pick<HttpTransportOptions, 'certPem' | 'keyPem' | 'caPem'>): void;
  close(): Promise<void>;
}

export interface HttpTransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface HttpTransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Requests over kept-alive HTTP/1.1 connections. Bodies are streamed: the socket is read only as fast as the body is taken. */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const url = serverUrl(options.server);
  let dialled = options;
  let connect = connector(url, dialled);
  const send = async (request: HttpTransportRequest, signal: AbortSignal): Promise<HttpTransportResponse> => {
    throwIfAborted(signal);
    const settings = requestSettings(url, request, options);
    const lasts = request.query.get('watch') === 'true' || request.query.get('follow') === 'true' ? 'stream' : 'request';
    try {
      return await exchange(connect.request(settings, lasts), request, signal);
    } catch (error) {
      // A connection that the server closed while it was idle says nothing about the server: a read is sent again on a fresh one.
      if (!(error instanceof StaleConnection) || request.method !== 'GET') throw error;
      return await exchange(connect.request({ ...settings, agent: false }, lasts), request, signal);
    }
  };
  return {
    send,
    redial(credentials = {}) {
      const before = connect;
      dialled = { ...dialled, ...credentials };
      connect = connector(url, dialled);
      before.close('the connections are made anew');
    },
    async close() {
      connect.close('the transport was closed');
    },
  };
}

/** A burst of requests waits for these connections: beyond them each would pay for a handshake that is longer than the wait. */
const requestsAtOnce = 8;

class StaleConnection extends Unavailable {}

function serverUrl(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new InvalidInput({ message: `server ${JSON.stringify(server)} is not an http or https URL`, hint: 'give it as https://host:port' });
  }
  return url;
}

type Lasting = 'request' | 'stream';

interface Connector {
  request(settings: https.RequestOptions, lasts: Lasting): http.ClientRequest;
  close(why: string): void;
}

function connector(url: URL, options: HttpTransportOptions): Connector {
  const open = new Set<http.ClientRequest>();
  const track = (request: http.ClientRequest): http.ClientRequest => {
    open.add(request);
    return request.once('close', () => open.delete(request));
  };
  const tls: https.AgentOptions = {
    // Made once: parsing the certificates anew for each connection costs more than its handshake.
    secureContext: createSecureContext({
      ...(options.caPem === undefined ? {} : { ca: options.caPem }),
      ...(options.certPem === undefined ? {} : { cert: options.certPem }),
      ...(options.keyPem === undefined ? {} : { key: options.keyPem }),
    }),
    ...(options.serverName === undefined ? {} : { servername: options.serverName }),
    rejectUnauthorized: options.insecureSkipVerify !== true,
  };
  const secure = url.protocol === 'https:';
  const agentOf = (limits: http.AgentOptions) => {
    const keep = { keepAlive: true, scheduling: 'lifo', ...limits } as const;
    return secure ? new https.Agent({ ...keep, ...tls }) : new http.Agent(keep);
  };
  // A stream keeps its connection for as long as it lasts: it must not take the place of a request.
  const agents = { request: agentOf({ maxSockets: requestsAtOnce }), stream: agentOf({}) };
  return {
    request(settings, lasts) {
      const agent = agents[lasts];
      return track(secure ? https.request({ agent, ...tls, ...settings }) : http.request({ agent, ...settings }));
    },
    close(why) {
      for (const request of open) request.destroy(new Unavailable({ message: why }));
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function requestSettings(url: URL, request: HttpTransportRequest, options: HttpTransportOptions): https.RequestOptions {
  const query = request.query.toString();
  const token = typeof options.token === 'function' ? options.token() : options.token;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
    method: request.method,
    path: `${url.pathname.replace(/\/$/, '')}${request.path}${query === '' ? '' : `?${query}`}`,
    headers: {
      'user-agent': options.userAgent ?? 'kubernode',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      // Node frames the body of a DELETE by itself only when it is told its length.
      ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
      ...request.headers,
    },
  };
}

function exchange(outgoing: http.ClientRequest, request: HttpTransportRequest, signal: AbortSignal): Promise<HttpTransportResponse> {
  return new Promise((resolve, reject) => {
    let response: http.IncomingMessage | undefined;
    const forget = onAbort(signal, () => (response ?? outgoing).destroy(reasonOf(signal)));
    outgoing.once('close', forget);
    outgoing.on('error', (error) => reject(unreachable(error, outgoing, signal)));
    outgoing.once('response', (incoming) => {
      response = incoming;
      resolve({ status: incoming.statusCode ?? 0, headers: flatHeaders(incoming.headers), body: bodyOf(incoming, outgoing, signal) });
    });
    outgoing.setNoDelay(true);
    outgoing.end(request.body);
  });
}

async function* bodyOf(incoming: http.IncomingMessage, outgoing: http.ClientRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const chunk of incoming) yield chunk as Uint8Array; // no encoding is set, so chunks are buffers
  } catch (error) {
    throw unreachable(error, outgoing, signal);
  }
}

function unreachable(error: unknown, outgoing: http.ClientRequest, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error;
  const lost = signal.aborted ? reasonOf(signal) : undefined;
  if (lost instanceof AppError) return lost;
  const code = (error as { readonly code?: unknown } | null)?.code;
  const kind = outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE') ? StaleConnection : Unavailable;
  return new kind({ message: `${outgoing.method} ${outgoing.protocol}//${outgoing.getHeader('host')}: ${messageOf(error)}`, cause: error });
}

function flatHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
