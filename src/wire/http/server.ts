import { constants } from 'node:crypto';
import { createServer as createPlainServer, type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { reasonOf } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf, Unavailable } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { type PeerIdentity, Peers } from './peers.ts';

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names; repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name, value, name, value... as the client spelled them. */
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly peer: PeerIdentity;
  /** Reads the body once. @throws {BodyTooLarge} */
  body(maxBytes: number, signal: AbortSignal): Promise<Uint8Array>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The signal is aborted when the client goes away or the server closes. */
export type HttpHandler = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
/** Owns the socket. */
export type UpgradeHandler = (request: HttpRequest, socket: Duplex, head: Uint8Array, signal: AbortSignal) => Promise<void>;

/** PEM; an authority may be several certificates; '' is none. `proxyCa`: of those who say themselves whom they speak for. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
  readonly proxyCa?: string | undefined;
}

export interface HttpServerOptions {
  /** Absent: plain HTTP, where nobody has a certificate. */
  readonly tls?: ServerTls | undefined;
  readonly handler: HttpHandler;
  readonly upgrade: UpgradeHandler;
  readonly clock: Clock;
  /** Told of what neither handler should ever throw. */
  readonly onFailure: (what: string, error: unknown) => void;
}

export interface HttpServer {
  /** @param address.port 0: any free one @returns the port that was taken @throws {Unavailable} */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Of connections from now on; those that are open keep what they have. */
  useTls(tls: Omit<ServerTls, 'proxyCa'>): void;
  /** Ends streams and idle connections, lets running requests end for a moment, then cuts. May be called twice. */
  close(): Promise<void>;
}

/** A body beyond what the reader accepts. */
export class BodyTooLarge extends AppError {
  readonly code = 'BODY_TOO_LARGE';
  readonly retry = 'never';
}

const closeGraceMs = 2_000;
const refusalLingerMs = 500;

const limits = {
  keepAliveTimeout: 90_000,
  headersTimeout: 32_000,
  requestTimeout: 0, // an upload is limited by its size; watches and logs have no end
  maxHeaderSize: 1024 * 1024, // Go's: a selector can be long
} as const;

const secureSettings = {
  requestCert: true,
  rejectUnauthorized: false, // tokens and health checks come without a certificate; the handler decides
  minVersion: 'TLSv1.2' as const,
  ALPNProtocols: ['http/1.1'],
  secureOptions: constants.SSL_OP_NO_TICKET, // a resumed session would hide the client's certificate
} satisfies ServerOptions;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const tasks = new TaskGroup(options.onFailure);
  const sockets = new Set<Duplex>();
  const clients = new GoneSignals(tasks.signal);
  const { tls } = options;
  const peers = new Peers(tls ?? { clientCa: '' });
  const secure = tls === undefined ? undefined : createServer({ ...identityOf(tls), ...secureSettings, ...limits });
  const server = secure ?? createPlainServer(limits);
  server.on('connection', (socket) => track(socket, sockets));
  server.on('request', (message, response) =>
    tasks.run(`${message.method} ${message.url}`, (closing) =>
      answer(requestOf(message, peers), message, response, options.handler, clients.of(response), closing),
    ),
  );
  server.on('upgrade', (message, socket, head) =>
    tasks.run(`upgrade ${message.url}`, async () => {
      socket.on('error', () => undefined); // the reader of the socket learns of it by its close
      await options.upgrade(requestOf(message, peers), socket, head, clients.of(socket));
    }),
  );
  server.on('tlsClientError', () => undefined); // somebody else's garbage
  server.on('clientError', (error, socket) => refuseGarbage(error, socket, options.clock));

  let closed: Promise<void> | undefined;
  return {
    useTls: (renewed) => secure?.setSecureContext({ ...identityOf(renewed), minVersion: 'TLSv1.2' }),
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', (cause) => reject(new Unavailable({ message: `cannot listen on ${host}:${port}: ${messageOf(cause)}`, cause })));
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port)); // a TCP server has an AddressInfo
      }),
    close: () => {
      closed ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        const cut = () => sockets.forEach((socket) => void socket.destroy());
        const late = options.clock.after(closeGraceMs, cut);
        void tasks.close().then(() => {
          late.cancel();
          setImmediate(cut); // what was just answered is flushed first
        });
      });
      return closed;
    },
  };
}

/** Without a certificate every handshake fails, until there is one. */
function identityOf({ cert, key, clientCa, proxyCa }: ServerTls) {
  return { ...(cert === '' ? {} : { cert, key }), ca: [clientCa, proxyCa ?? []].flat() };
}

/** Answers an upgrade that nobody took over, then ends the connection. */
export async function writeResponse(socket: Duplex, { status, headers, body }: HttpResponse): Promise<void> {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`);
  if (body instanceof Uint8Array) socket.write(body);
  else for await (const chunk of body) socket.write(chunk);
  socket.end();
}

/** What is no HTTP, or too much of it, is told so once. */
function refuseGarbage(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const text = `${status} ${STATUS_CODES[status]}`;
  const head = `HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\nConnection: close`;
  socket.end(`${head}\r\n\r\n${text}`);
  // The answer would be lost with a connection that is cut while more comes in.
  socket.on('data', () => undefined);
  clock.after(refusalLingerMs, () => socket.destroy());
}

function track(socket: Duplex, sockets: Set<Duplex>): void {
  if (socket instanceof Socket) socket.setNoDelay(true);
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}

async function answer(
  request: HttpRequest,
  message: IncomingMessage,
  response: ServerResponse,
  handler: HttpHandler,
  signal: AbortSignal,
  closing: AbortSignal,
): Promise<void> {
  response.on('error', () => undefined); // 'close' follows and is what counts
  const result = await handler(request, signal);
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
  // Nobody waits for the rest of a body that was refused.
  if (closing.aborted || !message.complete) response.setHeader('connection', 'close');
  if (result.body instanceof Uint8Array) {
    response.setHeader('content-length', result.body.byteLength);
    response.end(message.method === 'HEAD' ? undefined : result.body);
  } else {
    await stream(result.body, response, signal);
  }
}

async function stream(body: AsyncIterable<Uint8Array>, response: ServerResponse, signal: AbortSignal): Promise<void> {
  response.flushHeaders();
  try {
    for await (const chunk of body) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await drained(response);
    }
  } catch (error) {
    if (!signal.aborted) response.destroy();
    if (!signal.aborted) throw error;
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/** A signal for each connection, aborted when it is gone or the server closes. */
class GoneSignals {
  readonly #open = new Set<AbortController>();
  readonly #closing: AbortSignal;

  constructor(closing: AbortSignal) {
    this.#closing = closing;
    // One listener for all: a signal is slow, and warns, when thousands listen to it.
    closing.addEventListener('abort', () => this.#open.forEach((gone) => void gone.abort()), { once: true });
  }

  of(connection: ServerResponse | Duplex): AbortSignal {
    const gone = new AbortController();
    if (this.#closing.aborted) gone.abort();
    this.#open.add(gone);
    connection.once('close', () => {
      this.#open.delete(gone);
      // Who has had the whole answer is not gone: nothing is left to give up.
      if (!connection.writableFinished || !(connection instanceof ServerResponse)) gone.abort();
    });
    return gone.signal;
  }
}

function requestOf(message: IncomingMessage, peers: Peers): HttpRequest {
  const url = message.url ?? '/';
  const mark = url.indexOf('?');
  return {
    method: message.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    headers: joined(message.headers),
    rawHeaders: message.rawHeaders,
    remoteAddress: message.socket.remoteAddress ?? '',
    peer: peers.of(message.socket),
    body: (maxBytes, signal) => readBody(message, maxBytes, signal),
  };
}

function joined(headers: IncomingMessage['headers']): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) result[name] = typeof value === 'string' ? value : value.join(', ');
  return result;
}

function readBody(message: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  // Listeners instead of a loop: leaving a loop over the message destroys the connection before the refusal is written.
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(new BodyTooLarge({ message: `the body is larger than ${maxBytes} bytes` }));
    if (Number(message.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > maxBytes) {
        message.removeAllListeners('data');
        tooLarge();
      } else chunks.push(chunk);
    });
    message.once('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)));
    message.once('close', () => {
      if (message.readableEnded) return; // every request closes: an error, with its stack, is made for none that was read
      reject(signal.aborted ? reasonOf(signal) : new Unavailable({ message: 'the client went away before its body was read' }));
    });
  });
}
