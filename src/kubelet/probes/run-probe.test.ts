import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Probe } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import { DeadlineExceeded, Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { GrpcHealthAnswer } from '#wire/health/grpc-health.ts';
import type { HttpGet, HttpGot } from '#wire/http/client.ts';
import { type ProbeDeps, type ProbeOutcome, portNumber, runProbe } from './run-probe.ts';

const never = new AbortController().signal;
const target = {
  container: {
    name: 'c',
    ports: [{ name: 'web', containerPort: 8080 }],
    env: [
      { name: 'MODE', value: 'fast' },
      { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'x' } } },
    ],
  },
  containerId: 'id',
  podIp: '10.0.0.5',
};

interface World {
  readonly http?: (get: HttpGet) => Promise<HttpGot>;
  readonly exec?: (command: readonly string[], timeoutSeconds: number) => Promise<{ exitCode: number; stdout?: string; stderr?: string }>;
  readonly tcp?: (address: string) => Promise<void>;
  readonly grpc?: GrpcHealthAnswer;
}

const clock = new FakeClock();

function ask(probe: Probe, world: World): Promise<ProbeOutcome> {
  const missing = () => Promise.reject(new Error('not expected'));
  const deps: ProbeDeps = {
    clock,
    userAgent: 'kube-probe/1.36',
    runtime: {
      async execSync(_id, command, timeoutSeconds) {
        const { exitCode, stdout = '', stderr = '' } = await (world.exec ?? missing)(command, timeoutSeconds);
        return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
      },
    },
    probers: {
      httpGet: (get) => (world.http ?? missing)(get),
      tcpConnect: (host, port) => (world.tcp ?? missing)(`${host}:${port}`),
      grpcHealth: async () => world.grpc ?? assert.fail(),
    },
  };
  return runProbe(probe, target, deps, never);
}

const answer = (status: number, headers = {}, body = ''): HttpGot => ({ status, headers, body: Buffer.from(body) });

test('a command is expanded with the literal environment alone and judged by its exit code', async () => {
  const seen: unknown[] = [];
  const outcome = await ask(
    { exec: { command: ['check', '$(MODE)', '$(HOST)'] }, timeoutSeconds: 5 },
    {
      exec: async (command, timeoutSeconds) => {
        seen.push(command, timeoutSeconds);
        return { exitCode: 3, stdout: 'out ', stderr: 'err' };
      },
    },
  );
  assert.deepEqual(seen, [['check', 'fast', '$(HOST)'], 5]);
  assert.deepEqual(outcome, { kind: 'failure', output: 'out err' });
});

test('the output of a command is cut at 10 KiB', async () => {
  const outcome = await ask({ exec: { command: ['x'] } }, { exec: async () => ({ exitCode: 1, stdout: 'x'.repeat(20_000) }) });
  assert.equal(outcome.kind === 'failure' && outcome.output.length, 10_240);
});

test('a command that takes too long has failed', async () => {
  const outcome = await ask({ exec: { command: ['sleep', '9'] } }, { exec: () => Promise.reject(new DeadlineExceeded({ message: 'late' })) });
  assert.deepEqual(outcome, { kind: 'failure', output: 'command timed out: "sleep 9" timed out after 1s' });
});

test('a runtime that cannot be asked is an error after three tries', async () => {
  let tries = 0;
  const outcome = await ask(
    { exec: { command: ['x'] } },
    {
      exec: () => {
        tries += 1;
        return Promise.reject(new Unavailable({ message: 'gone' }));
      },
    },
  );
  assert.deepEqual([outcome, tries], [{ kind: 'error', text: 'gone' }, 3]);
});

test('an HTTP probe asks the pod with the headers of a probe, at a port by name', async () => {
  const seen: HttpGet[] = [];
  const probe: Probe = {
    httpGet: {
      path: 'healthz?full=1',
      port: 'web',
      httpHeaders: [
        { name: 'X-A', value: 'a' },
        { name: 'Accept', value: '' },
      ],
    },
  };
  const outcome = await ask(probe, {
    http: async (get) => {
      seen.push(get);
      return answer(200);
    },
  });
  assert.deepEqual(outcome, { kind: 'success' });
  const headers = [
    { name: 'User-Agent', value: 'kube-probe/1.36' },
    { name: 'X-A', value: 'a' },
  ];
  assert.deepEqual(seen, [{ scheme: 'http', host: '10.0.0.5', port: 8080, path: '/healthz?full=1', headers, maxBodyBytes: 10_240 }]);
});

for (const [status, kind] of [
  [200, 'success'],
  [399, 'success'],
  [304, 'success'],
  [199, 'failure'],
  [400, 'failure'],
  [500, 'failure'],
] as const) {
  test(`HTTP ${status} is a ${kind}`, async () => {
    const outcome = await ask({ httpGet: { port: 80 } }, { http: async () => answer(status) });
    assert.deepEqual(outcome, kind === 'success' ? { kind } : { kind, output: `HTTP probe failed with statuscode: ${status}` });
  });
}

test('an HTTP server that is not there has failed, in the words that users know', async () => {
  const refused = new Unavailable({ message: 'dial tcp 10.0.0.5:80: connect: connection refused' });
  const outcome = await ask({ httpGet: { port: 80, scheme: 'HTTPS' } }, { http: () => Promise.reject(refused) });
  assert.deepEqual(outcome, { kind: 'failure', output: 'Get "https://10.0.0.5:80/": dial tcp 10.0.0.5:80: connect: connection refused' });
});

test('an HTTP server that does not answer in time has failed', async () => {
  const asking = ask({ httpGet: { port: 80, path: '/slow' }, timeoutSeconds: 2 }, { http: () => new Promise(() => undefined) });
  await clock.advance(2_000);
  const output = 'Get "http://10.0.0.5:80/slow": context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  assert.deepEqual(await asking, { kind: 'failure', output });
});

test('redirects are followed on the same host, ten at most', async () => {
  const once = await ask({ httpGet: { port: 80 } }, { http: async ({ path }) => (path === '/' ? answer(302, { location: '/next' }) : answer(500)) });
  assert.deepEqual(once, { kind: 'failure', output: 'HTTP probe failed with statuscode: 500' });
  const endless = await ask({ httpGet: { port: 80 } }, { http: async () => answer(302, { location: '/' }) });
  assert.deepEqual(endless, { kind: 'failure', output: 'Get "http://10.0.0.5/": stopped after 10 redirects' });
});

test('a redirect to another host is a success with a warning', async () => {
  const outcome = await ask({ httpGet: { port: 80 } }, { http: async () => answer(302, { location: 'http://elsewhere/' }, 'moved') });
  assert.deepEqual(outcome, { kind: 'success-with-warning', output: 'Probe terminated redirects, Response body: moved' });
});

test('a TCP probe connects, or says why not', async () => {
  assert.deepEqual(await ask({ tcpSocket: { port: 'web' } }, { tcp: async (address) => assert.equal(address, '10.0.0.5:8080') }), {
    kind: 'success',
  });
  const refused = new Unavailable({ message: 'dial tcp 10.0.0.5:81: connect: connection refused' });
  assert.deepEqual(await ask({ tcpSocket: { port: 81 } }, { tcp: () => Promise.reject(refused) }), { kind: 'failure', output: refused.message });
});

test('a TCP probe without an answer is an i/o timeout', async () => {
  const asking = ask({ tcpSocket: { port: 81, host: 'fd00::1' } }, { tcp: () => new Promise(() => undefined) });
  await clock.advance(1_000);
  assert.deepEqual(await asking, { kind: 'failure', output: 'dial tcp [fd00::1]:81: i/o timeout' });
});

for (const [grpc, outcome] of [
  [{ kind: 'answered', status: 'SERVING' }, { kind: 'success' }],
  [
    { kind: 'answered', status: 'NOT_SERVING' },
    { kind: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' },
  ],
  [
    { kind: 'not-connected', detail: '' },
    { kind: 'failure', output: 'timeout: failed to connect service "10.0.0.5:9" within 1s: context deadline exceeded' },
  ],
  [
    { kind: 'timed-out', detail: '' },
    { kind: 'failure', output: 'timeout: health rpc did not complete within 1s' },
  ],
] as const) {
  test(`gRPC ${JSON.stringify(grpc)} is a ${outcome.kind}`, async () => assert.deepEqual(await ask({ grpc: { port: 9 } }, { grpc }), outcome));
}

test('a port that is neither a number nor a name of the container never becomes a failure', async () => {
  assert.equal(portNumber('http', {}), 'strconv.Atoi: parsing "http": invalid syntax');
  assert.equal(portNumber(0, {}), 'invalid port number: 0');
  assert.equal(portNumber('8081', {}), 8081);
  assert.deepEqual(await ask({ httpGet: { port: 'http' } }, {}), { kind: 'error', text: 'strconv.Atoi: parsing "http": invalid syntax' });
});

test('a probe that is given up throws what its signal says', async () => {
  const abort = new AbortController();
  const deps: ProbeDeps = {
    clock,
    userAgent: '',
    runtime: { execSync: (_id, _command, _timeout, signal) => new Promise((_, reject) => onAbort(signal, () => reject(reasonOf(signal)))) },
    probers: { httpGet: () => assert.fail(), tcpConnect: () => assert.fail(), grpcHealth: () => assert.fail() },
  };
  const asking = runProbe({ exec: { command: ['x'] } }, target, deps, abort.signal);
  abort.abort();
  await assert.rejects(asking, /abort/);
});
