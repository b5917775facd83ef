import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { HttpRequest } from '#wire/http/server.ts';
import { textAnswer } from './answer.ts';
import { createRequestMetrics } from './request-metrics.ts';

function request(method: string, path: string, headers: Readonly<Record<string, string>> = {}): HttpRequest {
  const rest = {
    query: new URLSearchParams(),
    rawHeaders: [],
    remoteAddress: '',
    peer: { kind: 'none' },
    body: async () => new Uint8Array(),
  } as const;
  return { method, path, headers, ...rest };
}

function world() {
  const registry = new Registry();
  let now = 0;
  const metrics = createRequestMetrics(registry, () => now);
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => /_(total|requests|sum)\{/.test(line));
  const pass = (ms: number): void => {
    now += ms;
  };
  return { metrics, lines, pass };
}

const labels = (method: string, path: string, long = 'false', type = 'readwrite') =>
  `{method="${method}",path="${path}",server_type="${type}",long_running="${long}"}`;

test('requests are counted by the first word of their path, figures by two, and what is unknown as one', async () => {
  const { metrics, lines } = world();
  for (const path of ['/metrics/cadvisor', '/metrics', '/stats/summary', '/whatever/you/like'])
    await metrics.answered('readonly', request('GET', path), async () => textAnswer(200, ''));
  const counts = (await lines()).filter((line) => line.startsWith('kubelet_http_requests_total'));
  const paths = ['metrics/cadvisor', 'metrics', 'stats', 'other'];
  assert.deepEqual(
    counts,
    paths.map((path) => `kubelet_http_requests_total${labels('GET', path, 'false', 'readonly')} 1`),
  );
});

test('a body that comes bit by bit is open until its end', async () => {
  const { metrics, lines, pass } = world();
  const body = async function* () {
    yield new Uint8Array(1);
    pass(2000);
    yield new Uint8Array(1);
  };
  const answer = await metrics.answered('readwrite', request('GET', '/containerLogs/a/b/c'), async () => ({
    status: 200,
    headers: {},
    body: body(),
  }));
  const open = `kubelet_http_inflight_requests${labels('GET', 'containerLogs')}`;
  assert.ok((await lines()).includes(`${open} 1`));
  if (!(answer.body instanceof Uint8Array)) for await (const _ of answer.body);
  assert.ok((await lines()).includes(`${open} 0`));
  assert.ok((await lines()).includes(`kubelet_http_requests_duration_seconds_sum${labels('GET', 'containerLogs')} 2`));
});

test('streams are long; those over WebSockets are counted by what they are', async () => {
  const { metrics, lines } = world();
  await metrics.streamed('readwrite', request('GET', '/exec/a/b/c', { upgrade: 'websocket' }), async () => undefined);
  await metrics.streamed('readwrite', request('POST', '/portForward/a/b', { upgrade: 'SPDY/3.1' }), async () => undefined);
  await assert.rejects(
    metrics.streamed('readwrite', request('POST', '/attach/a/b/c', { upgrade: 'SPDY/3.1' }), async () => {
      throw new Error('gone');
    }),
  );
  const told = await lines();
  assert.ok(told.includes(`kubelet_http_requests_total${labels('GET', 'exec', 'true')} 1`));
  assert.ok(told.includes(`kubelet_http_requests_total${labels('POST', 'portForward')} 1`));
  assert.ok(told.includes(`kubelet_http_inflight_requests${labels('POST', 'attach', 'true')} 0`));
  assert.deepEqual(
    told.filter((line) => line.includes('websocket')),
    ['kubelet_websocket_streaming_requests_total{subresource="exec"} 1'],
  );
});
