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

test('images may be with another program than containers', async () => {
  const runtime = createCriRuntime({
    endpoint: 'unix:///no/runtime.sock',
    imageEndpoint: 'unix:///no/images.sock',
    clock: systemClock,
    containerdEvents: false,
  });
  const { signal } = new AbortController();
  await assert.rejects(runtime.version(signal), { message: /no\/runtime\.sock/ });
  await assert.rejects(runtime.listImages(signal), { message: /no\/images\.sock/ });
  await assert.rejects(runtime.downloads(signal), { message: /no\/images\.sock/ });
  runtime.close();
});

test('an endpoint that is no unix socket is refused', () => {
  assert.throws(() => createCriRuntime({ endpoint: '/run/x.sock', clock: systemClock, containerdEvents: false }), { code: 'INVALID_INPUT' });
});
