import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LifecycleHandler } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { SpeaksPlainHttp } from '#wire/http/client-errors.ts';
import type { HttpGetRequest } from '../ports/http-get.ts';
import { HookFailed, type HookTarget, runHook } from './hooks.ts';
import { MemoryRuntime } from './testing/memory-runtime.ts';

const { signal } = new AbortController();
const target: HookTarget = {
  pod: { uid: 'u', namespace: 'default', name: 'web' },
  containerId: 'main-0',
  containerName: 'main',
  fieldPath: 'spec.containers{main}',
  podIP: '10.0.0.2',
  ports: [{ name: 'http', containerPort: 8080 }],
};

function aWorld(answer: (request: HttpGetRequest) => void = () => undefined) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const events: string[] = [];
  const sent: HttpGetRequest['headers'][number][] = [];
  const deps = {
    clock,
    runtime: new MemoryRuntime(clock),
    events: {
      emit: (_pod: unknown, { type, reason, message }: { type: string; reason: string; message: string }) =>
        void events.push(`${type} ${reason} ${message}`),
    },
    http: {
      get: async (request: HttpGetRequest) => {
        asked.push(`${request.scheme}://${request.host}:${request.port}${request.path}`);
        sent.push(...request.headers);
        answer(request);
        return 500;
      },
    },
  };
  return { clock, asked, events, sent, run: (hook: LifecycleHandler) => runHook(hook, target, deps, signal) };
}

test('a GET goes to the pod, at a port by number or name, as kube-lifecycle; its status does not matter', async () => {
  const { asked, sent, run } = aWorld();
  await run({ httpGet: { port: 'http', path: 'bye' } });
  await run({ httpGet: { port: 9000, host: 'example.com', httpHeaders: [{ name: 'X-Who', value: 'me' }] } });
  assert.deepEqual(asked, ['http://10.0.0.2:8080/bye', 'http://example.com:9000/']);
  assert.deepEqual(sent[0], { name: 'User-Agent', value: 'kube-lifecycle/1.36' });
  assert.ok(sent.some(({ name, value }) => name === 'X-Who' && value === 'me'));
});

test('who answers HTTPS in plain HTTP is asked again, and that is told', async () => {
  const { asked, events, run } = aWorld(({ scheme }) => {
    if (scheme === 'https') throw new SpeaksPlainHttp({ message: 'http: server gave HTTP response to HTTPS client' });
  });
  await run({ httpGet: { port: 80, scheme: 'HTTPS' } });
  assert.deepEqual(asked, ['https://10.0.0.2:80/', 'http://10.0.0.2:80/']);
  assert.deepEqual(events, ['Warning LifecycleHTTPFallback request to HTTPS lifecycle hook 10.0.0.2 got HTTP response, retry with HTTP succeeded']);
});

test('what fails is told in upstream’s words', async () => {
  const { run } = aWorld(() => {
    throw new Unavailable({ message: 'dial tcp 10.0.0.2:80: connect: connection refused' });
  });
  const failed = (hook: LifecycleHandler, message: string) =>
    assert.rejects(run(hook), (error) => error instanceof HookFailed && error.message === message);
  const where = 'for Container "main" in Pod "web_default(u)" failed';
  await failed({ httpGet: { port: 80, path: '/x' } }, `HTTP lifecycle hook (/x) ${where} - error: dial tcp 10.0.0.2:80: connect: connection refused`);
  await failed({ httpGet: { port: 'none' } }, `HTTP lifecycle hook (/) ${where} - error: couldn't find port: none`);
  await failed({ tcpSocket: { port: 80 } }, 'Cannot run handler: invalid handler: tcpSocket');
});

test('a sleep is over after its seconds', async () => {
  const { clock, run } = aWorld();
  let isOver = false;
  const sleeping = run({ sleep: { seconds: 5 } }).then(() => {
    isOver = true;
  });
  await clock.advance(4999);
  assert.equal(isOver, false);
  await clock.advance(1);
  await sleeping;
});
