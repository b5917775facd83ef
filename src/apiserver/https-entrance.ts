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
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'x-remote-user', 'x-remote-uid', 'x-remote-group']);

function apiRequestOf({ method, path, query, headers, rawHeaders, remoteAddress, body }: HttpRequest): ApiRequest {
  return {
    method,
    path,
    query,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !credentialHeaders.has(name))),
    rawHeaders: rawHeaders.filter((_, position) => !credentialHeaders.has((rawHeaders[position - (position % 2)] ?? '').toLowerCase())),
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

function credentialsOf({ peer, headers }: HttpRequest): Credentials {
  const authorization = headers['authorization'] ?? '';
  return { certificate: peer, authorization: authorization === '' ? webSocketToken(headers['sec-websocket-protocol'] ?? '') : authorization };
}

const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';

/** A browser cannot set headers of a WebSocket: its token comes as a protocol beside the one that it wants to speak. */
function webSocketToken(offer: string): string {
  const protocols = offer.split(',').map((protocol) => protocol.trim());
  const token = protocols.find((protocol) => protocol.startsWith(tokenProtocol));
  if (token === undefined || protocols.length < 2) return '';
  return `Bearer ${Buffer.from(token.slice(tokenProtocol.length), 'base64url').toString()}`;
}
