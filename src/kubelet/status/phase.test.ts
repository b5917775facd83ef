import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Container, ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { type Phase, phaseOf } from './phase.ts';

type Word = 'none' | 'waiting' | 'backing-off' | 'backing-off-0' | 'running' | 'started' | 'ended-0' | 'ended-1';

function statusOf(name: string, word: Word): ContainerStatus {
  const base = { name, ready: false, restartCount: 0, image: '', imageID: '', started: word === 'started' };
  const ended = (exitCode: number) => ({ terminated: { exitCode } });
  const states: Readonly<Record<Exclude<Word, 'none'>, Partial<ContainerStatus>>> = {
    waiting: { state: { waiting: {} } },
    'backing-off': { state: { waiting: {} }, lastState: ended(1) },
    'backing-off-0': { state: { waiting: {} }, lastState: ended(0) },
    running: { state: { running: {} } },
    started: { state: { running: {} } },
    'ended-0': { state: ended(0) },
    'ended-1': { state: ended(1) },
  };
  return { ...base, ...(word === 'none' ? {} : states[word]) };
}

function phase(
  restartPolicy: string,
  apps: readonly Word[],
  inits: readonly Word[] = [],
  options: { ended?: boolean; init?: Partial<Container>; app?: Partial<Container> } = {},
): Phase {
  const container = (name: string, more: Partial<Container> = {}) => ({ ...aContainer({ name }), ...more });
  const pod: Pod = aPod({
    spec: {
      restartPolicy,
      containers: apps.map((_, index) => container(`app${index}`, options.app)),
      initContainers: inits.map((_, index) => container(`init${index}`, options.init)),
    },
  });
  const statuses = (prefix: string, words: readonly Word[]) =>
    words.flatMap((word, index) => (word === 'none' ? [] : [statusOf(`${prefix}${index}`, word)]));
  return phaseOf(pod, { init: statuses('init', inits), containers: statuses('app', apps) }, options.ended ?? false);
}

const rows: readonly (readonly [string, Phase, Phase])[] = [
  ['an init container has not run', phase('Always', ['waiting'], ['waiting']), 'Pending'],
  ['an init container runs', phase('Always', ['waiting'], ['running']), 'Pending'],
  ['an init container failed, policy Never', phase('Never', ['waiting'], ['ended-1']), 'Failed'],
  ['an init container failed, policy OnFailure', phase('OnFailure', ['waiting'], ['backing-off']), 'Pending'],
  ['a sidecar runs and has not started', phase('Always', ['waiting'], ['running'], { init: { restartPolicy: 'Always' } }), 'Pending'],
  ['a sidecar has started, the app runs', phase('Always', ['running'], ['started'], { init: { restartPolicy: 'Always' } }), 'Running'],
  ['a sidecar died while the app runs', phase('Always', ['running'], ['backing-off'], { init: { restartPolicy: 'Always' } }), 'Running'],
  ['one of two waits for its first run', phase('Always', ['running', 'waiting']), 'Pending'],
  ['all run', phase('Always', ['running', 'running']), 'Running'],
  ['one runs, one has ended', phase('Never', ['running', 'ended-1']), 'Running'],
  ['all back off', phase('Always', ['backing-off']), 'Running'],
  ['all succeeded, policy Always', phase('Always', ['ended-0']), 'Running'],
  ['all succeeded, policy OnFailure', phase('OnFailure', ['ended-0', 'ended-0']), 'Succeeded'],
  ['all succeeded, policy Never', phase('Never', ['ended-0']), 'Succeeded'],
  ['one failed, policy Never', phase('Never', ['ended-0', 'ended-1']), 'Failed'],
  ['one failed, policy OnFailure', phase('OnFailure', ['ended-0', 'ended-1']), 'Running'],
  ['the rules of a container start it again, policy Never', phase('Never', ['ended-1'], [], { app: { restartPolicy: 'OnFailure' } }), 'Running'],
  ['no rule starts it again, policy Always', phase('Always', ['ended-1'], [], { app: { restartPolicy: 'Never' } }), 'Failed'],
  ['an init container starts again by its own policy', phase('Never', ['waiting'], ['ended-1'], { init: { restartPolicy: 'OnFailure' } }), 'Pending'],
  ['an init container may not start again, policy Always', phase('Always', ['waiting'], ['ended-1'], { init: { restartPolicy: 'Never' } }), 'Failed'],
  ['stopped for good, all exited 0, policy Always', phase('Always', ['ended-0'], [], { ended: true }), 'Succeeded'],
  ['stopped for good, one exited 1', phase('Always', ['ended-0', 'ended-1'], [], { ended: true }), 'Failed'],
  ['stopped for good before anything ran', phase('Always', ['waiting'], ['waiting'], { ended: true }), 'Failed'],
];
for (const [when, actual, expected] of rows) test(`${expected}: ${when}`, () => assert.equal(actual, expected));
