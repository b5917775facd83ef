import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { HttpTransport } from '#wire/http/transport.ts';
import { withClientMetrics } from './client-metrics.ts';

test('requests to the API server are counted by their answer', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const transport: Pick<HttpTransport, 'send'> = {
    async send({ path }) {
      await clock.advance(300);
      if (path === '/gone') throw new Unavailable({ message: 'connection refused' });
      return { status: path === '/no' ? 404 : 200, headers: {}, body: (async function* () {})() };
    },
  };
  const counted = withClientMetrics(transport, 'https://10.0.0.1:6443', registry, clock);
  const send = (method: 'GET' | 'PATCH', path: string) =>
    counted.send({ method, path, query: new URLSearchParams(), headers: {}, body: undefined }, new AbortController().signal);
  await send('GET', '/yes');
  await send('GET', '/no');
  await send('PATCH', '/yes');
  await assert.rejects(send('GET', '/gone'), /connection refused/);
  const lines = (await registry.metrics()).split('\n').filter((line) => /_total\{|_sum\{/.test(line));
  const host = 'host="10.0.0.1:6443"';
  assert.deepEqual(lines, [
    `rest_client_requests_total{code="200",method="GET",${host}} 1`,
    `rest_client_requests_total{code="404",method="GET",${host}} 1`,
    `rest_client_requests_total{code="200",method="PATCH",${host}} 1`,
    `rest_client_requests_total{code="<error>",method="GET",${host}} 1`,
    `rest_client_request_duration_seconds_sum{verb="GET",${host}} 0.8999999999999999`,
    `rest_client_request_duration_seconds_sum{verb="PATCH",${host}} 0.3`,
  ]);
});
