import type { Duplex } from 'node:stream';
import { messageOf } from '#base/errors.ts';
import { createHttpServer, type HttpRequest, type HttpResponse, type HttpServer, type ServerTls } from '#wire/http/server.ts';
import { proxyUpgrade } from '#wire/http/upgrade.ts';
import { type HeaderList, headerPairs, offeredWebSocketProtocols, portForwardTunnel, wantedUpgrade } from '#wire/http/upgrade-head.ts';
import type { Guard } from './access/guard.ts';
import { refusalOf } from './allowed.ts';
import { Refusal, textAnswer } from './answer.ts';
import { kubeletRoute } from './kubelet-route.ts';
import { failureAnswer, type KubeletPages, pageAnswer, podOf } from './pages.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type StreamRoute, streamUrl } from './streams.ts';

export interface KubeletServerOptions extends KubeletPages {
  readonly requests: RequestMetrics;
  /** Streams end when nothing was sent for so long; absent: never. */
  readonly streamIdleMs: number | undefined;
  readonly tls: ServerTls;
  readonly guard: Guard;
}

export type KubeletServer = HttpServer;

/** What the kubelet serves to those who may ask: logs, exec, attach, port-forward, and pages. */
export function createKubeletServer(options: KubeletServerOptions): KubeletServer {
  const { clock, logger, requests } = options;
  return createHttpServer({
    tls: options.tls,
    clock,
    handler: (request, signal) => requests.answered('readwrite', request, () => guardedAnswer(options, request, signal)),
    upgrade: async (request, socket, head, signal) => {
      try {
        await requests.streamed('readwrite', request, () => stream(options, request, socket, head, signal));
      } catch (error) {
        endWith(socket, failureAnswer(logger, request, error));
      }
    },
    onFailure: (what, error) => logger.error('a request broke', { what, error: messageOf(error) }),
  });
}

/** Some pages in plain HTTP for everybody who reaches the port. @param isServed by path @param requests absent: they are not counted */
export function createOpenServer(pages: KubeletPages, isServed: (path: string) => boolean, requests?: RequestMetrics): HttpServer {
  const { clock, logger } = pages;
  return createHttpServer({
    clock,
    handler: async (request, signal) => {
      const answer = async () => (isServed(request.path) ? await pageAnswer(pages, request, signal) : textAnswer(404, '404 page not found\n'));
      return requests === undefined ? await answer() : await requests.answered('readonly', request, answer);
    },
    upgrade: async (_request, socket) => endWith(socket, textAnswer(404, '404 page not found\n')),
    onFailure: (what, error) => logger.error('a request broke', { what, error: messageOf(error) }),
  });
}

async function guardedAnswer(options: KubeletServerOptions, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  try {
    await options.guard(request);
  } catch (error) {
    return failureAnswer(options.logger, request, error);
  }
  return await pageAnswer(options, request, signal);
}

async function stream(options: KubeletServerOptions, request: HttpRequest, socket: Duplex, head: Uint8Array, signal: AbortSignal): Promise<void> {
  await options.guard(request);
  const route = kubeletRoute(request.path);
  const headers = headerPairs(request.rawHeaders);
  const refusal = refusalOf(route.kind, request.method, options.switches);
  if (refusal !== undefined) return endWith(socket, refusal);
  const wanted = wantedUpgrade(headers);
  if (!isStream(route) || wanted === undefined) return endWith(socket, textAnswer(404, '404: Page Not Found'));
  if (route.kind === 'portForward' && wanted === 'websocket' && !request.query.has('port') && !offersTunnel(headers))
    throw new Refusal(400, 'query parameter "port" is required');
  const url = await streamUrl(options.runtime, podOf(options, route), route, request.query, signal);
  await proxyUpgrade({ method: request.method, headers, socket, head }, { url }, options.clock, signal, options.streamIdleMs);
}

function isStream(route: ReturnType<typeof kubeletRoute>): route is StreamRoute {
  return route.kind === 'exec' || route.kind === 'attach' || route.kind === 'portForward';
}

function offersTunnel(headers: HeaderList): boolean {
  return offeredWebSocketProtocols(headers).includes(portForwardTunnel);
}

/** Answers on a connection whose request wanted an upgrade. */
function endWith(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  const lines = Object.entries({ ...headers, 'content-length': bytes.byteLength, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  if (!socket.destroyed) socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${lines.join('')}\r\n`), bytes]));
}
