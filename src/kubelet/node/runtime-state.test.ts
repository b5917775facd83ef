import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { RuntimeCondition, StatusResponse } from '#wire/generated/cri.ts';
import { runtimeStateOf, watchRuntime } from './runtime-state.ts';

const condition = (type: string, status: boolean, reason = '', message = ''): RuntimeCondition => ({ type, status, reason, message });

function aStatus(...conditions: readonly RuntimeCondition[]): StatusResponse {
  return { status: { conditions: [...conditions] }, info: {}, runtimeHandlers: [], features: undefined };
}

const ready = aStatus(condition('RuntimeReady', true), condition('NetworkReady', true));
const noNetwork = aStatus(
  condition('RuntimeReady', true),
  condition('NetworkReady', false, 'NetworkPluginNotReady', 'Network plugin returns error: cni plugin not initialized'),
);
const noNetworkText =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

test('a runtime that says nothing of itself is not ready', () => {
  assert.deepEqual(runtimeStateOf(aStatus()), {
    runtimeProblem: 'container runtime not ready: RuntimeReady=false reason: message:',
    networkProblem: 'container runtime network not ready: NetworkReady=false reason: message:',
    handlers: [],
    features: undefined,
  });
});

/** A runtime that answers what the test says, and counts how often it is asked. */
function aRuntime(first: StatusResponse | 'down') {
  const runtime = {
    answer: first,
    asked: 0,
    async status(): Promise<StatusResponse> {
      runtime.asked += 1;
      if (runtime.answer === 'down') throw new Unavailable({ message: 'no socket' });
      return runtime.answer;
    },
  };
  return runtime;
}

async function watching(first: StatusResponse | 'down') {
  const clock = new FakeClock();
  const runtime = aRuntime(first);
  const watch = watchRuntime({ runtime, clock });
  const abort = new AbortController();
  const running = watch.run(abort.signal);
  await clock.advance(0);
  return { clock, runtime, watch, abort, running };
}

test('before the first answer neither runtime nor network is ready', () => {
  const watch = watchRuntime({ runtime: aRuntime(ready), clock: new FakeClock() });
  assert.deepEqual([watch.runtimeReady.get(), watch.network.get()], [false, { ready: false, detail: 'network state unknown' }]);
});

test('a ready runtime is looked at every five seconds, one that is not ten times a second', async () => {
  const { clock, runtime, watch, abort, running } = await watching(noNetwork);
  assert.deepEqual(watch.network.get(), { ready: false, detail: noNetworkText });
  assert.equal(watch.runtimeReady.get(), true);
  await clock.advance(1_000);
  assert.equal(runtime.asked, 11);
  runtime.answer = ready;
  await clock.advance(100);
  assert.deepEqual(watch.network.get(), { ready: true, detail: '' });
  const asked = runtime.asked;
  await clock.advance(10_000);
  assert.equal(runtime.asked - asked, 2);
  abort.abort();
  await running;
});

test('an answer that says the same again tells nobody', async () => {
  const { clock, watch, abort, running } = await watching(ready);
  let told = 0;
  watch.state.subscribe(() => {
    told += 1;
  });
  await clock.advance(20_000);
  assert.equal(told, 0);
  abort.abort();
  await running;
});

test('a runtime that does not answer is down after thirty seconds, and back at once', async () => {
  const { clock, runtime, watch, abort, running } = await watching(ready);
  runtime.answer = 'down';
  await clock.advance(29_000);
  assert.equal(watch.runtimeReady.get(), true);
  await clock.advance(7_000);
  assert.equal(watch.state.get().runtimeProblem, 'container runtime is down');
  runtime.answer = ready;
  await clock.advance(100);
  assert.equal(watch.runtimeReady.get(), true);
  abort.abort();
  await running;
});

test('a runtime that answers but does not say what is in it is not ready after three minutes', async () => {
  const clock = new FakeClock();
  let listedAtMs: number | undefined;
  const watch = watchRuntime({ runtime: aRuntime(ready), clock, listedAtMs: () => listedAtMs });
  const abort = new AbortController();
  const running = watch.run(abort.signal);
  await clock.advance(0);
  await clock.advance(180_000);
  assert.equal(watch.runtimeReady.get(), true);
  await clock.advance(5_000);
  assert.equal(watch.state.get().runtimeProblem, 'PLEG is not healthy: pleg has yet to be successful');
  listedAtMs = clock.monotonic();
  await clock.advance(100);
  assert.equal(watch.runtimeReady.get(), true);
  await clock.advance(185_000);
  assert.equal(watch.state.get().runtimeProblem, 'PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s');
  abort.abort();
  await running;
});

test('who waits for the first answer gets it', async () => {
  const { clock, runtime, watch, abort, running } = await watching('down');
  let known = false;
  const waiting = watch.known(abort.signal).then(() => {
    known = true;
  });
  await clock.advance(1_000);
  assert.equal(known, false);
  runtime.answer = ready;
  await clock.advance(100);
  await waiting;
  abort.abort();
  await running;
});
