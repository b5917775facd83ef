import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { ContainerState, ContainerStatus, Pod, PodStatus } from '#api/types/core-v1.ts';
import type { StartReason } from '../ports/pod-runtime.ts';
import { type ContainerPhase, type ContainerRecord, emptyState } from '../runtime/pod-runtime-state.ts';
import { aContainer, aSandbox, observedOf } from '../runtime/testing/observed.ts';
import { containerStatuses, terminatedStatuses } from './container-statuses.ts';

const startedAtMs = Date.parse('2030-01-01T00:00:01.900Z');
const finishedAtMs = Date.parse('2030-01-01T00:00:09.900Z');
const lostAtEnd = 'The container could not be located when the pod was terminated';
const lostWhenDeleted = 'The container could not be located when the pod was deleted.  The container used to be Running';

interface Situation {
  readonly pod?: Pod;
  readonly records?: readonly ContainerRecord[];
  readonly old?: Partial<ContainerStatus>;
  readonly failure?: StartReason;
  readonly verdict?: 'success' | 'failure';
}

function statusesOf({ pod = aPod(), records, old, failure, verdict }: Situation) {
  const told: ContainerStatus = { name: 'main', lastState: {}, ready: false, restartCount: 0, image: '', imageID: '', ...old };
  const previous: PodStatus | undefined = old === undefined ? undefined : { containerStatuses: [told] };
  return containerStatuses({
    pod,
    previous,
    observed: records === undefined ? emptyState(pod.metadata) : observedOf([aSandbox()], records),
    verdicts: () => verdict,
    failureOf: () => (failure === undefined ? undefined : { reason: failure, message: 'why' }),
    runtimeName: 'containerd',
  });
}
const mainOf = (situation: Situation): ContainerStatus => statusesOf(situation).containers.find(({ name }) => name === 'main') ?? assert.fail();

const record = (phase: ContainerPhase, more: Partial<ContainerRecord> = {}) =>
  aContainer('main', { phase, startedAtMs, finishedAtMs: phase === 'exited' ? finishedAtMs : 0, ...more });
const ended = (exitCode: number, reason: string, more: object = {}): ContainerState => ({
  terminated: {
    exitCode,
    reason,
    startedAt: '2030-01-01T00:00:01Z',
    finishedAt: '2030-01-01T00:00:09Z',
    containerID: 'containerd://main-0',
    ...more,
  },
});
const ran: ContainerState = { running: { startedAt: '2030-01-01T00:00:01Z' } };
const lost = (message: string): ContainerState => ({ terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } });
const withInit = aPod({ spec: { initContainers: [aSpec({ name: 'init' })] } });
const never = aPod({ spec: { restartPolicy: 'Never' } });
const deleted = aPod({ metadata: { deletionTimestamp: '2030-01-01T00:01:00Z' } });

/** Situation, state, last state, restarts. */
const rows: readonly (readonly [string, Situation, ContainerState, ContainerState, number])[] = [
  ['nobody knows of it', {}, { waiting: { reason: 'ContainerCreating' } }, {}, 0],
  ['nobody knows of it, and init containers come first', { pod: withInit }, { waiting: { reason: 'PodInitializing' } }, {}, 0],
  ['its record is gone, but its end was told', { old: { state: ended(3, 'Error'), restartCount: 2 } }, ended(3, 'Error'), {}, 2],
  ['it is made and not started', { records: [record('created')] }, { waiting: {} }, {}, 0],
  ['it runs', { records: [record('running')] }, ran, {}, 0],
  ['it ended well', { pod: never, records: [record('exited')] }, ended(0, 'Completed'), {}, 0],
  ['it failed', { pod: never, records: [record('exited', { exitCode: 2 })] }, ended(2, 'Error'), {}, 0],
  [
    'it failed with a reason and last words',
    { pod: never, records: [record('exited', { exitCode: 137, reason: 'OOMKilled', message: 'bye' })] },
    ended(137, 'OOMKilled', { message: 'bye' }),
    {},
    0,
  ],
  ['nobody knows how it ended', { records: [record('unknown')], old: { state: ran, restartCount: 1 } }, lost(lostAtEnd), {}, 2],
  ['nobody knows how it is, nor how it was', { records: [record('unknown')] }, { waiting: {} }, {}, 0],
  ['it vanished while it ran', { old: { state: ran } }, { waiting: { reason: 'ContainerCreating' } }, lost(lostWhenDeleted), 1],
  [
    'it vanished from a pod that is deleted',
    { pod: deleted, old: { state: ran } },
    { waiting: { reason: 'ContainerCreating' } },
    lost(lostWhenDeleted),
    0,
  ],
  [
    'it vanished, and how it ended before was told',
    { old: { state: ran, lastState: ended(1, 'Error'), restartCount: 4 } },
    { waiting: { reason: 'ContainerCreating' } },
    ended(1, 'Error'),
    4,
  ],
  [
    'it runs again',
    { records: [record('running', { restartCount: 1, id: 'main-1' }), record('exited', { exitCode: 1 })] },
    ran,
    ended(1, 'Error'),
    1,
  ],
  [
    'it ended and may not start at once',
    { records: [record('exited', { exitCode: 1 })], failure: 'CrashLoopBackOff' },
    waitsFor('CrashLoopBackOff'),
    ended(1, 'Error'),
    0,
  ],
  ['it ended and no start of it failed: its end stays in sight', { records: [record('exited', { exitCode: 1 })] }, ended(1, 'Error'), {}, 0],
  [
    'it ended for good: a failure of before is nothing',
    { pod: never, records: [record('exited')], failure: 'CrashLoopBackOff' },
    ended(0, 'Completed'),
    {},
    0,
  ],
  ['it never ran, and its image cannot be had', { failure: 'ErrImagePull' }, waitsFor('ErrImagePull'), {}, 0],
];

function waitsFor(reason: StartReason): ContainerState {
  return { waiting: { reason, message: 'why' } };
}

for (const [when, situation, state, lastState, restarts] of rows) {
  test(`status of a container: ${when}`, () => {
    const status = mainOf(situation);
    assert.deepEqual([status.state, status.lastState, status.restartCount], [state, lastState, restarts]);
  });
}

test('image and container are told as the runtime names them', () => {
  const { image, imageID, containerID } = mainOf({ records: [record('running', { image: 'docker.io/library/web:1', imageId: 'sha256:1234' })] });
  assert.deepEqual([image, imageID, containerID], ['docker.io/library/web:1', 'sha256:1234', 'containerd://main-0']);
});

test('an init container is ready when it has ended well; a sidecar as an app is', () => {
  const exec = { exec: { command: ['true'] } };
  const initContainers = [aSpec({ name: 'init' }), aSpec({ name: 'side', restartPolicy: 'Always', readinessProbe: exec })];
  const pod = aPod({ spec: { initContainers } });
  const initOf = (verdict: 'success' | 'failure') =>
    statusesOf({ pod, verdict, records: [aContainer('side', { startedAtMs }), aContainer('init', { phase: 'exited' })] }).init;
  assert.deepEqual(
    initOf('failure').map(({ name, ready, started }) => [name, ready, started]),
    [
      ['init', true, false],
      ['side', false, true],
    ],
  );
  assert.equal(initOf('success')[1]?.ready, true);
});

test('apps and ephemeral containers are sorted by name, init containers stay in the order of the spec', () => {
  const named = (...names: readonly string[]) => names.map((name) => aSpec({ name }));
  const ephemeralContainers = named('shell', 'debug').map(({ name, image }) => ({ name, image }));
  const pod = aPod({ spec: { containers: named('zebra', 'ant'), initContainers: named('two', 'one'), ephemeralContainers } });
  const { init, containers, ephemeral } = statusesOf({ pod });
  assert.deepEqual(
    [init, containers, ephemeral].map((list) => list.map(({ name }) => name)),
    [
      ['two', 'one'],
      ['ant', 'zebra'],
      ['debug', 'shell'],
    ],
  );
});

test('the last words of all containers of a pod share 12288 bytes, and none is cut within a character', () => {
  const messageOf = (pod: Pod, message: string) => mainOf({ pod, records: [record('exited', { exitCode: 1, message })] }).state?.terminated?.message;
  const withTwo = aPod({ spec: { containers: [aSpec(), aSpec({ name: 'two' })], initContainers: [aSpec({ name: 'init' })] } });
  assert.equal(messageOf(withTwo, 'x'.repeat(5000))?.length, 4096);
  assert.equal(messageOf(withTwo, `x${'é'.repeat(2500)}`), `x${'é'.repeat(2047)}`);
  assert.equal(messageOf(aPod(), 'x'.repeat(5000))?.length, 5000);
});

test('at the end of a pod all have ended: with their last end, or nobody knows how', () => {
  const [status] = terminatedStatuses([mainOf({ records: [record('running')] })]);
  assert.deepEqual([status?.state, status?.ready, status?.started], [lost(lostAtEnd), false, false]);
  const again = mainOf({ records: [record('exited', { exitCode: 5 })], failure: 'CrashLoopBackOff' });
  assert.deepEqual(terminatedStatuses([again])[0]?.state, ended(5, 'Error'));
});
