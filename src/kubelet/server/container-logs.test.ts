import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { ContainerState, type ContainerStatus } from '#wire/generated/cri.ts';
import { Refusal } from './answer.ts';
import { type ContainerLogsDeps, containerLogs } from './container-logs.ts';

const never = new AbortController().signal;
const target = { namespace: 'ns', pod: 'p', uid: undefined, container: 'c' };

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { containers: [{ name: 'c' }] },
  status: {
    containerStatuses: [{ name: 'c', containerID: 'containerd://id', state: { running: {} }, ready: true, restartCount: 0, image: '', imageID: '' }],
  },
};

function aDeps(change: { readonly text?: string; readonly status?: () => Promise<ContainerStatus | undefined> } = {}): ContainerLogsDeps {
  const running = { state: ContainerState.CONTAINER_EXITED, logPath: '/logs/c/0.log' } as ContainerStatus; // what logs look at
  const { text } = change;
  return {
    clock: new FakeClock(),
    runtime: { containerStatus: change.status ?? (async () => running) },
    onPodsChanged: () => () => undefined,
    files: {
      watch: () => () => undefined,
      open: async (path) => {
        assert.equal(path, '/logs/c/0.log');
        if (text === undefined) return undefined;
        const bytes = Buffer.from(text);
        return {
          identity: '1',
          sizeBytes: async () => bytes.length,
          read: async (from, max) => bytes.subarray(from, from + max),
          close: async () => undefined,
        };
      },
    },
  };
}

async function bodyOf(deps: ContainerLogsDeps, query = ''): Promise<string> {
  const { status, body } = containerLogs(deps, pod, target, new URLSearchParams(query), never);
  assert.equal(status, 200);
  let text = '';
  if (body instanceof Uint8Array) assert.fail('the log is a stream');
  for await (const chunk of body) text += Buffer.from(chunk);
  return text;
}

test('the log of the container that the status names is read', async () => {
  const line = '2026-12-02T03:00:00Z stdout F hello\n';
  assert.equal(await bodyOf(aDeps({ text: line })), 'hello\n');
  assert.equal(await bodyOf(aDeps({ text: line }), 'follow=true'), 'hello\n');
});

test('what goes wrong behind the 200 is told at the end of the body', async () => {
  assert.equal(await bodyOf(aDeps()), 'failed to open log file "/logs/c/0.log": open /logs/c/0.log: no such file or directory');
  assert.equal(await bodyOf(aDeps({ status: async () => undefined })), 'unable to retrieve container logs for containerd://id');
  assert.equal(await bodyOf(aDeps({ status: () => Promise.reject(new Unavailable({ message: 'no runtime' })) })), 'no runtime');
  assert.equal(await bodyOf(aDeps({ text: 'garbage\n' })), 'unsupported log format: "garbage"');
});

for (const [what, known, change, query, status, text] of [
  ['a pod that is not known', undefined, {}, '', 404, 'pod "p" does not exist'],
  ['a container that is not known', pod, { container: 'x' }, '', 404, 'container "x" not found in pod "p"'],
  ['no name of a container', pod, { container: '' }, '', 400, '{"message": "Missing container name."}'],
  ['options that cannot be read', pod, {}, 'tailLines=x', 400, '{"message": "Unable to decode query."}'],
  ['a stream that is none', pod, {}, 'stream=Other', 422, '{"message": "Invalid request."}'],
  [
    'one stream alone',
    pod,
    {},
    'stream=Stdout',
    400,
    'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
  ],
  ['a log that is not there', pod, {}, 'previous=true', 400, 'previous terminated container "c" in pod "p" not found'],
] as const) {
  test(`${what} is refused before anything is sent`, () => {
    const asking = () => containerLogs(aDeps(), known, { ...target, ...change }, new URLSearchParams(query), never);
    assert.throws(asking, (error: unknown) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual([error.status, error.message], [status, text]);
      return true;
    });
  });
}
