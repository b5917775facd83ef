import { bodyTooLarge } from '#api/status.ts';
import type { Transport, TransportRequest, TransportResponse } from '#client/transport.ts';
import type { Pipeline } from '../request/pipeline.ts';
import { type ApiRequest, maxBodyBytes } from '../request/route.ts';
import type { User } from '../request/user.ts';

/** Requests without a socket: the same authorization and admission as for everyone. @param closing ends what is running when the server closes */
export function createInProcessTransport(pipeline: Pipeline, user: User, closing: AbortSignal): Transport {
  const own = new AbortController();
  return {
    send: async (request, signal) => {
      const ends = AbortSignal.any([signal, closing, own.signal]);
      const response = await pipeline.serveAs(user, apiRequestOf(request), ends);
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]),
      );
      return { status: response.status, headers, body: bodyOf(response.body) } satisfies TransportResponse;
    },
    close: async () => own.abort(),
  };
}

function apiRequestOf({ method, path, query, headers, body }: TransportRequest): ApiRequest {
  const bytes = body === undefined ? new Uint8Array() : typeof body === 'string' ? Buffer.from(body) : body;
  return {
    method,
    path,
    query,
    headers,
    rawHeaders: [],
    remoteAddress: '',
    body: async () => {
      if (bytes.byteLength > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
      return bytes;
    },
  };
}

async function* bodyOf(body: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}
