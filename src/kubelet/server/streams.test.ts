import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { NotFound, Unavailable } from '#base/errors.ts';
import { fromCri } from '#wire/cri/errors.ts';
import type { Container, PodSandbox } from '#wire/generated/cri.ts';
import { GrpcFailure, grpcStatus } from '#wire/grpc/failure.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { Refusal } from './answer.ts';
import { kubeletRoute } from './kubelet-route.ts';
import { type StreamRoute, streamUrl } from './streams.ts';

const never = new AbortController().signal;

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { containers: [{ name: 'c' }, { name: 'terminal', tty: true }] },
};

type StreamRuntime = Pick<RuntimePort, 'exec' | 'attach' | 'portForward' | 'listContainers' | 'listPodSandboxes'>;

/** A runtime in which every container runs, that answers with what it was asked. */
function aRuntime(change: Partial<StreamRuntime> = {}): StreamRuntime {
  const asked = (what: string, request: unknown) => `http://127.0.0.1:1/${what}/${encodeURIComponent(JSON.stringify(request))}`;
  return {
    exec: async (request) => asked('exec', request),
    attach: async (request) => asked('attach', request),
    portForward: async (sandboxId, ports) => asked('portforward', { sandboxId, ports }),
    listContainers: async ({ labelSelector }) => [{ id: `id of ${labelSelector?.['io.kubernetes.container.name']}` } as Container],
    listPodSandboxes: async () => [{ id: 'older', createdAt: 1 } as PodSandbox, { id: 'newer', createdAt: 2 } as PodSandbox],
    ...change,
  };
}

async function ask(url: string, runtime = aRuntime(), known: Pod | undefined = pod): Promise<unknown> {
  const { pathname, searchParams } = new URL(url, 'http://kubelet');
  const answer = await streamUrl(runtime, known, kubeletRoute(pathname) as StreamRoute, searchParams, never); // the tests ask for streams only
  return JSON.parse(decodeURIComponent(answer.pathname.split('/')[2] ?? ''));
}

const refused = (status: number, text: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual([error.status, error.message], [status, text]);
  return true;
};

test('exec asks for the container, the command and the streams that are wanted', async () => {
  const request = await ask('/exec/ns/p/c?command=sh&command=-c&command=exit%203&input=1&output=1&error=1');
  assert.deepEqual(request, { containerId: 'id of c', command: ['sh', '-c', 'exit 3'], stdin: true, stdout: true, stderr: true, tty: false });
});

test('a terminal has no error stream', async () => {
  const request = await ask('/exec/ns/p/c?command=sh&output=1&error=1&tty=1');
  assert.deepEqual(request, { containerId: 'id of c', command: ['sh'], stdin: false, stdout: true, stderr: false, tty: true });
});

test('attach has a terminal when the container has one', async () => {
  assert.deepEqual(await ask('/attach/ns/p/terminal?output=1&error=1'), {
    containerId: 'id of terminal',
    stdin: false,
    stdout: true,
    stderr: false,
    tty: true,
  });
});

test('only 1 means yes', async () => {
  await assert.rejects(ask('/exec/ns/p/c?command=x&output=true'), refused(400, 'you must specify at least 1 of stdin, stdout, stderr'));
});

test('ports are forwarded into the newest sandbox', async () => {
  assert.deepEqual(await ask('/portForward/ns/p'), { sandboxId: 'newer', ports: [] });
  assert.deepEqual(await ask('/portForward/ns/p?port=80,81&port=82'), { sandboxId: 'newer', ports: [80, 81, 82] });
  await assert.rejects(ask('/portForward/ns/p?port=http'), refused(400, 'query parameter "port" is not valid: http'));
});

test('what does not run is refused in upstream words', async () => {
  const empty = aRuntime({ listContainers: async () => [], listPodSandboxes: async () => [] });
  await assert.rejects(ask('/exec/ns/p/c?output=1', empty), refused(500, 'container not found ("c")'));
  await assert.rejects(ask('/attach/ns/p/c?output=1', empty), refused(500, 'container c not found in pod p_ns'));
  await assert.rejects(ask('/portForward/ns/p', empty), refused(500, 'pod not found ("p_ns")'));
});

test('a pod that the kubelet does not know is refused', async () => {
  const runtime = aRuntime();
  const { searchParams } = new URL('http://kubelet/?output=1');
  for (const path of ['/exec/ns/x/c', '/attach/ns/x/c', '/portForward/ns/x']) {
    await assert.rejects(
      streamUrl(runtime, undefined, kubeletRoute(path) as StreamRoute, searchParams, never),
      (error: unknown) => error instanceof Refusal,
    );
  }
});

test('a pod of that name with another uid is not the one that is meant', async () => {
  assert.ok(await ask('/exec/ns/p/u/c?output=1'));
  await assert.rejects(ask('/exec/ns/p/other/c?output=1'), refused(500, 'container not found ("c")'));
  await assert.rejects(ask('/attach/ns/p/other/c?output=1'), refused(500, 'container c not found in pod p_ns'));
  await assert.rejects(ask('/portForward/ns/p/other'), refused(404, 'pod not found'));
});

test('a runtime with too many streams has the client come back later', async () => {
  const full = new GrpcFailure({ message: 'full', status: grpcStatus.resourceExhausted, details: 'maximum number of in-flight requests exceeded' });
  const runtime = aRuntime({ exec: () => Promise.reject(fromCri(full, 'exec')) });
  await assert.rejects(ask('/exec/ns/p/c?output=1', runtime), (error: unknown) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.status, error.headers], [429, { 'retry-after': '60' }]);
    assert.equal(error.message, 'rpc error: code = ResourceExhausted desc = maximum number of in-flight requests exceeded');
    return true;
  });
});

test('what the runtime says is passed on, with a status that fits', async () => {
  const failing = (error: Error) => aRuntime({ exec: () => Promise.reject(error) });
  await assert.rejects(ask('/exec/ns/p/c?output=1', failing(new NotFound({ message: 'no container' }))), refused(404, 'no container'));
  await assert.rejects(ask('/exec/ns/p/c?output=1', failing(new Unavailable({ message: 'no runtime' }))), refused(500, 'no runtime'));
});
