import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState, ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { logSource } from './log-source.ts';

function aPod(status: Partial<ContainerStatus> | undefined): Pod {
  const whole = status === undefined ? [] : [{ name: 'c', ready: false, restartCount: 0, image: '', imageID: '', ...status }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { containers: [{ name: 'c' }] },
    status: { containerStatuses: whole },
  };
}

const running: ContainerState = { running: { startedAt: '2026-12-02T03:00:00Z' } };
const ended = (id: string): ContainerState => ({ terminated: { exitCode: 1, containerID: `containerd://${id}` } });
const waiting = (reason: string): ContainerState => ({ waiting: { reason } });
const what = 'container "c" in pod "p"';

const cases: readonly (readonly [string, Partial<ContainerStatus> | undefined, boolean, string])[] = [
  ['a running container has its own log', { state: running, containerID: 'containerd://now' }, false, 'now'],
  ['an ended container has its own log', { state: ended('now') }, false, 'now'],
  ['a container that waits for its restart has the last log', { state: waiting('CrashLoopBackOff'), lastState: ended('before') }, false, 'before'],
  ['previous is the last run', { state: running, containerID: 'containerd://now', lastState: ended('before') }, true, 'before'],
  ['previous of a first run is refused', { state: running, containerID: 'containerd://now' }, true, `previous terminated ${what} not found`],
  ['a container without a status', undefined, false, `${what} is not available`],
  ['a container that is being created', { state: waiting('ContainerCreating') }, false, `${what} is waiting to start: ContainerCreating`],
  ['an image that failed', { state: waiting('ErrImagePull') }, false, `${what} is waiting to start: image can't be pulled`],
  ['an image that fails again', { state: waiting('ImagePullBackOff') }, false, `${what} is waiting to start: trying and failing to pull image`],
  ['a container of which nothing is known', { state: {} }, false, `${what} is waiting to start - no logs yet`],
];
for (const [name, status, previous, wanted] of cases) {
  test(name, () => {
    const source = logSource(aPod(status), 'c', previous);
    assert.equal(source.kind === 'container' ? source.containerId : source.text, wanted);
  });
}

test('a container that the pod does not have is told apart', () => {
  assert.deepEqual(logSource(aPod(undefined), 'x', false), { kind: 'unknown-container', text: 'container "x" not found in pod "p"' });
});
