import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { RuntimePort } from '#kubelet/ports/runtime.ts';
import { createCriRuntime } from './cri-runtime.ts';

test('the runtime over CRI is what the kubelet asks for', async () => {
  const runtime = createCriRuntime({ endpoint: 'unix:///nowhere/at/all.sock', clock: systemClock, containerdEvents: 'auto' });
  const port: RuntimePort = runtime; // the compiler checks the match; layers keep the two apart
  await assert.rejects(port.version(new AbortController().signal), { code: 'UNAVAILABLE', retry: 'backoff' });
  runtime.close();
});

test('an endpoint that is no unix socket is refused', () => {
  assert.throws(() => createCriRuntime({ endpoint: '/run/x.sock', clock: systemClock, containerdEvents: false }), { code: 'INVALID_INPUT' });
});
