import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { PodStartup, StepRecord } from './pod-startup.ts';
import { explain } from './why.ts';

const now = Date.parse('2030-01-01T00:01:00Z');

function aStep(step: Partial<StepRecord>): StepRecord {
  return {
    name: 'volumes',
    title: 'Mount the volumes',
    phase: 'done',
    startedAtMs: now - 60_000,
    tookMs: 1,
    attempts: 1,
    slowAfterMs: 2000,
    calls: [],
    ...step,
  };
}

function aRecord(...steps: readonly StepRecord[]): PodStartup {
  return { apiVersion: 'kubernode.dev/v1', kind: 'PodStartup', metadata: aPod().metadata, nodeName: 'n1', milestones: {}, steps };
}

const bound = (status: Parameters<typeof aPod>[0] = {}) => aPod({ ...status, spec: { nodeName: 'n1' } });

test('a pull that takes its time: how far it has come, and when nothing comes', () => {
  const pull = { image: 'r.io/app:1', bytes: 12_340_000, totalBytes: 45_600_000, layers: 3, layersDone: 1, changedAtMs: now - 900, otherPulls: 0 };
  const running = aStep({ name: 'containers', title: 'Start the containers', phase: 'running', startedAtMs: now - 1500 });
  const lines = (more: object) => explain(bound(), { ...aRecord(running), pulls: [{ ...pull, ...more }] }, now).lines;
  assert.deepEqual(lines({}), [
    'pod default/web is in step containers (Start the containers) since 1.50 s',
    'it pulls image r.io/app:1: 12.3 of 45.6 MB, 1 of 3 layers done so far',
  ]);
  assert.equal(
    lines({ otherPulls: 2, changedAtMs: now - 70_000 })[1],
    'it pulls image r.io/app:1: 12.3 of 45.6 MB, 1 of 3 layers done so far, together with 2 other pulls; nothing came for 1 min 10 s',
  );
});

test('a step that waits: which, since when, for what, how often, and the mend', () => {
  const step = aStep({
    phase: 'waiting',
    reason: 'FailedMount',
    detail: 'configmap "settings" not found',
    sinceMs: now - 12_000,
    attempts: 3,
    wakeOn: [{ kind: 'object', ref: 'configmap/default/settings' }, { kind: 'time' }],
    nextTryAtMs: now + 48_000,
    meaning: 'a volume cannot be made',
    mend: 'create the object that is named',
  });
  assert.deepEqual(explain(bound(), aRecord(aStep({ name: 'admit' }), step), now), {
    isSettled: false,
    box: 'volumes',
    lines: [
      'pod default/web waits in step volumes (Mount the volumes) since 12.0 s: FailedMount: configmap "settings" not found',
      'it goes on when configmap/default/settings appears or changes, or its time has come',
      'tried 3 times, again within 48.0 s at the latest',
      'it means: a volume cannot be made',
      'try: create the object that is named',
    ],
  });
});

test('a pod that no node takes shows the scheduler’s words', () => {
  const pod = aPod({
    status: {
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/1 nodes are available: 1 Insufficient cpu.',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
    },
  });
  const { box, lines } = explain(pod, undefined, now);
  assert.equal(box, 'scheduler');
  assert.equal(lines[0], 'pod default/web waits in the scheduler since 1 min 0 s: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.');
});

test('a container in back-off: the reason, its last end, and the mend', () => {
  const status = {
    name: 'main',
    image: 'busybox',
    imageID: '',
    ready: false,
    restartCount: 2,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting failed container=main' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error', finishedAt: '2030-01-01T00:00:50Z' } },
  };
  assert.deepEqual(explain(bound({ status: { phase: 'Running', containerStatuses: [status] } }), aRecord(aStep({})), now), {
    isSettled: false,
    box: 'containers',
    lines: [
      'pod default/web: container main waits: CrashLoopBackOff: back-off 20s restarting failed container=main',
      'it ended last with exit code 1 (Error) at 2030-01-01T00:00:50Z',
      'restarted 2 times',
      'try: read the container’s last words with `kubectl logs --previous`, mend the program or its command',
    ],
  });
});

test('a rejected pod shows the reason and message of its status', () => {
  const pod = bound({ status: { phase: 'Failed', reason: 'OutOfcpu', message: "Node didn't have enough resource: cpu" } });
  assert.deepEqual(explain(pod, undefined, now).lines, ["pod default/web has Failed: OutOfcpu: Node didn't have enough resource: cpu"]);
});

test('a step that takes longer than it does as a rule is called unusual', () => {
  const { lines } = explain(bound(), aRecord(aStep({ phase: 'running', startedAtMs: now - 5000 })), now);
  assert.deepEqual(lines, [
    'pod default/web is in step volumes (Mount the volumes) since 5.00 s, which is unusual: it takes less than 2.00 s as a rule',
  ]);
});

test('a pod that runs and is ready, and one that has succeeded, are settled', () => {
  const ready = bound({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
  assert.deepEqual(explain(ready, aRecord(aStep({})), now), { isSettled: true, box: 'status', lines: ['pod default/web is Running and Ready'] });
  assert.equal(explain(bound({ status: { phase: 'Succeeded' } }), undefined, now).isSettled, true);
});

test('a pod that is being deleted names the finalizers that hold it', () => {
  const pod = bound({ metadata: { deletionTimestamp: '2030-01-01T00:00:30Z', deletionGracePeriodSeconds: 30, finalizers: ['example.com/keep'] } });
  assert.deepEqual(explain(pod, undefined, now).lines, [
    'pod default/web is being deleted since 2030-01-01T00:00:30Z, with 30 s of grace',
    'it waits for the finalizers example.com/keep: whoever set them must take them away',
  ]);
});
