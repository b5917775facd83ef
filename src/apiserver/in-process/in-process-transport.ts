import { bodyTooLarge } from '#api/status.ts';
import { onAbort } from '#base/abort.ts';
import type { Transport, TransportRequest } from '#client/transport.ts';
import type { Pipeline } from '../request/pipeline.ts';
import { type ApiRequest, maxBodyBytes } from '../request/route.ts';
import type { User } from '../request/user.ts';

/**
 * Requests without a socket: the same authorization and admission as for everyone.
 *
 * @param closing ends what is running when the server closes
 */
export function createInProcessTransport(pipeline: Pipeline, user: User, closing: AbortSignal): Transport {
  // Not AbortSignal.any: what it joins to a long-lived signal is never let go.
  const running = new Set<AbortController>();
  const endAll = () => running.forEach((request) => void request.abort());
  onAbort(closing, endAll);
  return {
    send: async (request, signal) => {
      const own = new AbortController();
      if (closing.aborted) own.abort();
      running.add(own);
      const forget = onAbort(signal, () => own.abort(signal.reason));
      const release = () => {
        forget();
        running.delete(own);
      };
      try {
        const response = await pipeline.serveAs(user, apiRequestOf(request), own.signal);
        const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]));
        if (response.body instanceof Uint8Array) release();
        const body = response.body instanceof Uint8Array ? once(response.body) : released(response.body, release);
        return { status: response.status, headers, body };
      } catch (error) {
        release();
        throw error;
      }
    },
    close: async () => endAll(),
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

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield body;
}

async function* released(body: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body;
  } finally {
    release();
  }
}
