import { Gauge, type Registry } from 'prom-client';
import type { HttpRequest, HttpResponse } from '#wire/http/server.ts';
import { counter, histogram } from '../metrics/families.ts';

/** `readonly`: in plain HTTP, for everybody. */
export type ServerType = 'readwrite' | 'readonly';

export interface RequestMetrics {
  /** Counts what is answered; a body that is written bit by bit ends the request with its last one. */
  answered(type: ServerType, request: HttpRequest, answer: () => Promise<HttpResponse>): Promise<HttpResponse>;
  /** Counts a request that takes over its connection. */
  streamed(type: ServerType, request: HttpRequest, work: () => Promise<void>): Promise<void>;
}

/** Requests to the kubelet's servers, under upstream's names. */
export function createRequestMetrics(registry: Registry, monotonic: () => number): RequestMetrics {
  const labelNames = ['method', 'path', 'server_type', 'long_running'] as const;
  const total = counter(registry, 'kubelet_http_requests_total', 'Requests to the kubelet’s servers', labelNames);
  const seconds = histogram(registry, 'kubelet_http_requests_duration_seconds', 'Duration of requests to the kubelet’s servers', labelNames);
  const webSockets = counter(registry, 'kubelet_websocket_streaming_requests_total', 'Streams over WebSockets', ['subresource']);
  const open = new Gauge({ name: 'kubelet_http_inflight_requests', help: 'Requests that are being answered', labelNames, registers: [registry] });

  const begin = (server_type: ServerType, { method, path: full }: HttpRequest): (() => void) => {
    const path = rootPath(full);
    const labels = { method, path, server_type, long_running: String(longRunning.has(path)) };
    const startedAt = monotonic();
    total.inc(labels);
    open.inc(labels);
    return () => {
      open.dec(labels);
      seconds.observe(labels, (monotonic() - startedAt) / 1000);
    };
  };

  return {
    async answered(type, request, answer) {
      const end = begin(type, request);
      let isOpen = false;
      try {
        const response = await answer();
        if (response.body instanceof Uint8Array) return response;
        isOpen = true;
        return { ...response, body: endedBy(response.body, end) };
      } finally {
        if (!isOpen) end();
      }
    },
    async streamed(type, request, work) {
      const subresource = streams[rootPath(request.path)];
      if (subresource !== undefined && request.headers['upgrade']?.toLowerCase() === 'websocket') webSockets.inc({ subresource });
      const end = begin(type, request);
      try {
        await work();
      } finally {
        end();
      }
    },
  };
}

async function* endedBy(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body;
  } finally {
    end();
  }
}

/** The first word of a known path; pages of figures have two. Whatever else people ask for must not make series. */
function rootPath(path: string): string {
  const [first = '', second] = path.replace(/^\//, '').split('/');
  const root = first === 'metrics' && second !== undefined && second !== '' ? `${first}/${second}` : first;
  return known.has(root) ? root : 'other';
}

const known: ReadonlySet<string> = new Set([
  'attach',
  'checkpoint',
  'configz',
  'containerLogs',
  'debug',
  'exec',
  'flagz',
  'healthz',
  'logs',
  'metrics',
  'metrics/cadvisor',
  'metrics/probes',
  'metrics/resource',
  'metrics/slis',
  'pods',
  'portForward',
  'run',
  'runningpods',
  'stats',
  'statusz',
]);

/** As upstream has them: a port-forward is not one. */
const longRunning: ReadonlySet<string> = new Set(['exec', 'attach', 'debug']);

const streams: Readonly<Record<string, string>> = { exec: 'exec', attach: 'attach', portForward: 'portforward' };
