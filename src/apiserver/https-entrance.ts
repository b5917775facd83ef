import { bodyTooLarge } from '#api/status.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { BodyTooLarge, createHttpServer, type HttpRequest, type HttpServer, writeResponse } from '#wire/http/server.ts';
import type { Credentials } from './authentication/authenticator.ts';
import type { Pipeline } from './request/pipeline.ts';
import { type ApiRequest, maxBodyBytes } from './request/route.ts';

export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
  /** Of front proxies, which say themselves whom they speak for. */
  readonly proxyCa?: string | undefined;
  /** Common names of the front proxies' certificates; absent or empty: all that their authority signed. */
  readonly proxyNames?: readonly string[] | undefined;
}

/** How requests come in over TLS. */
export function createHttpsEntrance(tls: TlsSettings, pipeline: Pipeline, clock: Clock, logger: Logger): HttpServer {
  return createHttpServer({
    tls,
    clock,
    handler: (request, signal) => pipeline.serve(apiRequestOf(request), credentialsOf(request), signal),
    upgrade: async (request, socket, head, signal) => {
      const response = await pipeline.upgrade(apiRequestOf(request), credentialsOf(request), socket, head, signal);
      if (response !== undefined) await writeResponse(socket, response);
    },
    onFailure: (what, error) => logger.error('a connection failed', { what, error }),
  });
}

/** What says who a client is ends here: nothing behind may pass it on. */
function isCredential(header: string): boolean {
  return header === 'authorization' || header.startsWith('x-remote-');
}

function apiRequestOf({ method, path, query, headers, rawHeaders, remoteAddress, body }: HttpRequest): ApiRequest {
  return {
    method,
    path,
    query,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name))),
    rawHeaders: rawHeaders.filter((_, position) => !isCredential((rawHeaders[position - (position % 2)] ?? '').toLowerCase())),
    remoteAddress,
    body: async (signal) => {
      try {
        return await body(maxBodyBytes, signal);
      } catch (error) {
        if (error instanceof BodyTooLarge) throw bodyTooLarge(maxBodyBytes);
        throw error;
      }
    },
  };
}

function credentialsOf({ peer, headers, rawHeaders }: HttpRequest): Credentials {
  const isWebSocket = headers['upgrade']?.toLowerCase() === 'websocket' && /(^|,)\s*upgrade\s*(,|$)/i.test(headers['connection'] ?? '');
  const protocols = isWebSocket ? (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim()) : [];
  const remoteHeaders = rawHeaders.flatMap((name, position) => {
    const isName = position % 2 === 0 && name.toLowerCase().startsWith('x-remote-');
    return isName ? [[name.toLowerCase(), rawHeaders[position + 1] ?? ''] as const] : [];
  });
  return { certificate: peer, authorization: headers['authorization'] ?? '', protocols, remoteHeaders };
}
