import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import type { HttpTransport } from '#wire/http/transport.ts';
import { counter, histogram } from './families.ts';

/** The same way to the API server; its requests are counted, and timed until the answer begins, under the names of Kubernetes' own clients. */
export function withClientMetrics<T extends Pick<HttpTransport, 'send'>>(transport: T, server: string, registry: Registry, clock: Clock): T {
  const { host } = new URL(server);
  const total = counter(registry, 'rest_client_requests_total', 'Requests to the API server', ['code', 'method', 'host']);
  const seconds = histogram(
    registry,
    'rest_client_request_duration_seconds',
    'Time until the API server began to answer',
    ['verb', 'host'],
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  );
  return {
    ...transport,
    async send(request, signal) {
      const { method } = request;
      const startedAt = clock.monotonic();
      let code = '<error>';
      try {
        const response = await transport.send(request, signal);
        code = String(response.status);
        return response;
      } finally {
        total.inc({ code, method, host });
        seconds.observe({ verb: method, host }, (clock.monotonic() - startedAt) / 1000);
      }
    },
  };
}
