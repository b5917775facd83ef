import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { StepState, Transition } from '#startup/transition.ts';
import { network } from '../steps/network.ts';
import { StepWorld } from '../testing/step-world.ts';
import { eventsObserver } from './events.ts';
import { joinObservers } from './join.ts';
import { metricsObserver } from './metrics.ts';
import { statusObserver } from './status.ts';

const waiting: StepState = { kind: 'waiting', reason: 'NetworkNotReady', detail: 'network is not ready: down', wakeOn: [], atLatestMs: 1 };

function transition(state: StepState, over: Partial<Transition> = {}): Transition {
  return { podUid: 'u1', namespace: 'default', name: 'web', step: 'network', direction: 'start', state, atMs: 0, tookMs: 20, calls: [], ...over };
}

test('a wait is an event with the words of the step, and is not repeated while nothing changes', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const observe = eventsObserver(
    [network(new StepWorld().runtime)],
    { emit: (pod, { type, reason, message }) => void told.push(`${pod.name} ${type} ${reason} ${message}`) },
    clock,
  );
  for (const state of [{ kind: 'started' }, waiting, waiting, { kind: 'done' }] as const) observe(transition(state));
  assert.deepEqual(told, ['web Warning NetworkNotReady network is not ready: down']);
  await clock.advance(11_000);
  observe(transition(waiting));
  assert.equal(told.length, 2);
});

test('people wait for the addresses and for the end; everything else may be told with the next change', () => {
  const told: string[] = [];
  const observe = statusObserver({ changed: (_pod, urgency) => void told.push(urgency) });
  observe(transition({ kind: 'done' }, { step: 'volumes' }));
  observe(transition({ kind: 'started' }, { step: 'cni' }));
  assert.deepEqual(told, []);
  observe(transition({ kind: 'done' }, { step: 'cni' }));
  observe(transition(waiting));
  observe(transition({ kind: 'done' }, { step: 'containers', direction: 'stop' }));
  assert.deepEqual(told, ['now', 'soon', 'now']);
});

test('steps are counted by outcome and by what they wait for', async () => {
  const registry = new Registry();
  const observe = metricsObserver(registry);
  observe(transition(waiting));
  observe(transition({ kind: 'done' }));
  const text = await registry.metrics();
  assert.match(text, /pod_start_step_seconds_count\{step="network",outcome="done"\} 1/);
  assert.match(text, /pod_start_blocked_total\{step="network",reason="NetworkNotReady"\} 1/);
});

test('an observer that throws keeps nobody else from hearing', () => {
  const heard: Transition[] = [];
  const broken = () => {
    throw new Error('broken');
  };
  joinObservers({ broken, good: (one) => void heard.push(one) }, silentLogger)(transition({ kind: 'done' }));
  assert.equal(heard.length, 1);
});
