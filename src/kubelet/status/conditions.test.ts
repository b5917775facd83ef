import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { ContainerStatus, PodCondition } from '#api/types/core-v1.ts';
import { type ConditionInput, conditions } from './conditions.ts';

const now = '2030-01-01T00:00:00Z';
const before = '2029-01-01T00:00:00Z';
type Word = 'waits' | 'runs' | 'ready' | 'done';

function status(name: string, word: Word): ContainerStatus {
  const base = { name, ready: word === 'ready', restartCount: 0, image: '', imageID: '', started: word === 'ready' || word === 'runs' };
  if (word === 'waits') return { ...base, state: { waiting: {} } };
  return word === 'done' ? { ...base, ready: true, state: { terminated: { exitCode: 0 } } } : { ...base, state: { running: {} } };
}
const init = aSpec({ name: 'init' });
const side = aSpec({ name: 'side', restartPolicy: 'Always' });
const pod = aPod({ metadata: { generation: 7 }, spec: { containers: [aSpec(), aSpec({ name: 'other' })], initContainers: [init, side] } });

function conditionsOf(
  words: readonly [init: Word, side: Word, main: Word, other: Word],
  over: Partial<ConditionInput> = {},
): readonly PodCondition[] {
  const [ofInit, ofSide, main, other] = words;
  return conditions({
    pod,
    phase: 'Running',
    statuses: { init: [status('init', ofInit), status('side', ofSide)], containers: [status('main', main), status('other', other)] },
    disruption: undefined,
    withoutSandbox: undefined,
    restartsAll: undefined,
    extra: [],
    previous: [],
    now,
    ...over,
  });
}

/** `<type>=<status> <reason>: <message>` */
function told(type: string, all: readonly PodCondition[]): string {
  const { status: value, reason = '', message = '' } = all.find((one) => one.type === type) ?? assert.fail(`no ${type}`);
  return `${value} ${reason}: ${message}`;
}
const gated = (...types: readonly string[]) =>
  aPod({ spec: { containers: [aSpec(), aSpec({ name: 'other' })], readinessGates: types.map((conditionType) => ({ conditionType })) } });
const all = ['done', 'ready', 'ready', 'ready'] as const;

const rows: readonly (readonly [string, string, string, readonly PodCondition[]])[] = [
  ['a sandbox is there', 'PodReadyToStartContainers', 'True : ', conditionsOf(all)],
  [
    'none is there',
    'PodReadyToStartContainers',
    'False NoSandbox: not yet',
    conditionsOf(['waits', 'waits', 'waits', 'waits'], { withoutSandbox: { reason: 'NoSandbox', message: 'not yet' } }),
  ],
  [
    'init containers are not done',
    'Initialized',
    'False ContainersNotInitialized: containers with incomplete status: [init side]',
    conditionsOf(['runs', 'waits', 'waits', 'waits']),
  ],
  [
    'a sidecar has not started',
    'Initialized',
    'False ContainersNotInitialized: containers with incomplete status: [side]',
    conditionsOf(['done', 'waits', 'waits', 'waits']),
  ],
  ['a sidecar has started, ready or not', 'Initialized', 'True : ', conditionsOf(['done', 'runs', 'waits', 'waits'])],
  ['an app has once started', 'Initialized', 'True : ', conditionsOf(['waits', 'waits', 'runs', 'waits'])],
  ['the pod has succeeded', 'Initialized', 'True PodCompleted: ', conditionsOf(all, { phase: 'Succeeded' })],
  ['apps and sidecars are ready', 'ContainersReady', 'True : ', conditionsOf(all)],
  [
    'some are not',
    'ContainersReady',
    'False ContainersNotReady: containers with unready status: [side other]',
    conditionsOf(['done', 'runs', 'ready', 'waits']),
  ],
  ['the pod has succeeded', 'ContainersReady', 'False PodCompleted: ', conditionsOf(all, { phase: 'Succeeded' })],
  ['the pod has failed', 'ContainersReady', 'False PodFailed: ', conditionsOf(all, { phase: 'Failed' })],
  ['all containers are ready', 'Ready', 'True : ', conditionsOf(all)],
  [
    'some containers are not',
    'Ready',
    'False ContainersNotReady: containers with unready status: [main]',
    conditionsOf(['done', 'ready', 'runs', 'ready']),
  ],
  [
    'gates are shut, or nobody knows of them',
    'Ready',
    'False ReadinessGatesNotReady: the status of pod readiness gate "a" is not "True", but False, corresponding condition of pod readiness gate "b" does not exist.',
    conditionsOf(all, { pod: gated('a', 'b'), previous: [{ type: 'a', status: 'False' }] }),
  ],
  ['gates are open', 'Ready', 'True : ', conditionsOf(all, { pod: gated('a'), previous: [{ type: 'a', status: 'True' }] })],
  ['always', 'PodScheduled', 'True : ', conditionsOf(['waits', 'waits', 'waits', 'waits'], { phase: 'Pending' })],
  [
    'it was put out',
    'DisruptionTarget',
    'True TerminationByKubelet: low on memory',
    conditionsOf(all, { phase: 'Failed', disruption: 'low on memory' }),
  ],
];
for (const [when, type, want, actual] of rows) test(`condition ${type}: ${when}`, () => assert.equal(told(type, actual), want));

test('conditions of others are not told of, a time changes with the status alone, and every condition has the generation of the spec', () => {
  const previous: readonly PodCondition[] = [
    { type: 'example.com/gate', status: 'True', lastTransitionTime: before },
    { type: 'Ready', status: 'True', lastTransitionTime: before, observedGeneration: 6 },
    { type: 'ContainersReady', status: 'False', reason: 'Other', lastTransitionTime: before, observedGeneration: 6 },
    { type: 'Initialized', status: 'True', lastTransitionTime: before },
  ];
  const made = conditionsOf(['done', 'ready', 'runs', 'ready'], { previous });
  assert.deepEqual(
    made.map(({ type, lastTransitionTime, observedGeneration }) => [type, lastTransitionTime, observedGeneration]),
    [
      ['PodReadyToStartContainers', now, 7],
      ['Initialized', before, 7],
      ['Ready', now, 7],
      ['ContainersReady', before, 7],
      ['PodScheduled', now, 7],
    ],
  );
});
