import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { Transition } from '#startup/transition.ts';
import { runPipeline, unwind } from './runner.ts';
import { type Facts, type Outcome, Pipeline, type Step } from './step.ts';
import { stopNow } from './testing/step-laws.ts';

const pod = { uid: 'u1', namespace: 'default', name: 'web' };
const signal = new AbortController().signal;
const documented = { event: undefined, severity: 'Normal', meaning: 'a reason of a test', mend: 'nothing to be done' } as const;

interface Rig {
  readonly seen: string[];
  readonly told: string[];
  readonly deps: { readonly clock: FakeClock; readonly emit: (transition: Transition) => void };
  step<R extends Facts, W extends Facts>(
    name: string,
    reads: readonly (keyof R & string)[],
    outcome: () => Outcome<W, 'NotYet'>,
  ): Step<R, W, 'NotYet'>;
}

function rig(): Rig {
  const seen: string[] = [];
  const told: string[] = [];
  return {
    seen,
    told,
    deps: { clock: new FakeClock(), emit: ({ step, direction, state }) => told.push(`${direction} ${step} ${state.kind}`) },
    step: (name, reads, outcome) => ({
      name,
      title: name,
      reads,
      writes: [],
      slowAfterMs: 1,
      reasons: { NotYet: documented },
      async run(_pod, facts) {
        seen.push(`${name} ${JSON.stringify(facts)}`);
        return outcome();
      },
      async undo() {
        seen.push(`undo ${name}`);
      },
    }),
  };
}
const done =
  <W extends Facts>(writes: W) =>
  () =>
    ({ kind: 'done', writes }) as const;
const wait = (key: string) => () =>
  ({ kind: 'wait', reason: 'NotYet', detail: key, wakeOn: [{ kind: 'volume', name: key }], atLatestMs: 5 }) as const;

test('each step gets the facts that it reads and no others, and the facts of all come out', async () => {
  const { step, seen, told, deps } = rig();
  const list = Pipeline.startingFrom<{ pod: string; secret: string }>()
    .andThen(step<{ pod: string }, { a: number }>('one', ['pod'], done({ a: 1 })))
    .andThen(step<{ a: number }, { b: number }>('two', ['a'], done({ b: 2 })));
  assert.deepEqual(await runPipeline(list, pod, { pod: 'p', secret: 's' }, deps, signal), {
    kind: 'done',
    facts: { pod: 'p', secret: 's', a: 1, b: 2 },
  });
  assert.deepEqual(seen, ['one {"pod":"p"}', 'two {"a":1}']);
  assert.deepEqual(told, ['start one started', 'start one done', 'start two started', 'start two done']);
});

test('steps beside each other both come to their end, and their waits are joined', async () => {
  const { step, deps, seen } = rig();
  const list = Pipeline.startingFrom<object>()
    .andBeside(step('left', [], wait('x')), step('right', [], wait('y')))
    .andThen(step('never', [], done({})));
  const result = await runPipeline(list, pod, {}, deps, signal);
  assert.deepEqual(result, {
    kind: 'wait',
    step: 'left',
    reason: 'NotYet',
    wakeOn: [
      { kind: 'volume', name: 'x' },
      { kind: 'volume', name: 'y' },
    ],
    atLatestMs: 5,
  });
  assert.deepEqual(seen, ['left {}', 'right {}']);
});

test('a failure stops the list, is told with its code and comes out as it is', async () => {
  const { step, deps, told } = rig();
  const lost = new Unavailable({ message: 'no runtime' });
  const list = Pipeline.startingFrom<object>()
    .andThen(
      step('one', [], () => {
        throw lost;
      }),
    )
    .andThen(step('two', [], done({})));
  assert.deepEqual(await runPipeline(list, pod, {}, deps, signal), { kind: 'failed', step: 'one', error: lost });
  assert.deepEqual(told, ['start one started', 'start one failed']);
});

test('unwinding walks backwards and stops at an undo that fails', async () => {
  const { step, deps, seen, told } = rig();
  const stuck: Step<object, object, 'NotYet'> = {
    ...step('stuck', [], done({})),
    undo: async () => {
      throw new Unavailable({ message: 'busy' });
    },
  };
  const list = Pipeline.startingFrom<object>()
    .andThen(step('first', [], done({})))
    .andThen(stuck)
    .andThen(step('last', [], done({})));
  await assert.rejects(unwind(list, pod, stopNow(), deps, 1000, signal), Unavailable);
  assert.deepEqual(seen, ['undo last']);
  assert.deepEqual(told, ['stop last started', 'stop last done', 'stop stuck started', 'stop stuck failed']);
});

test('who asks is told of both boundaries of each step that is run, and nobody hears of a step before its fault', async () => {
  const { step, seen, told, deps } = rig();
  const list = Pipeline.startingFrom<object>()
    .andThen(step('one', [], done({})))
    .andThen(step('two', [], wait('a')));
  const faults = (name: string, point: string) => void [seen, told].map((list) => list.push(`${name}/${point}`));
  await runPipeline(list, pod, {}, { ...deps, faults }, signal);
  await unwind(list, pod, stopNow(), { ...deps, faults }, 1000, signal);
  assert.deepEqual(seen.slice(0, 6), [
    'web/one:start:before',
    'one {}',
    'web/one:start:after',
    'web/two:start:before',
    'two {}',
    'web/two:start:after',
  ]);
  assert.deepEqual(told.slice(0, 4), ['start one started', 'web/one:start:before', 'web/one:start:after', 'start one done']);
  assert.deepEqual(seen.slice(6, 9), ['web/two:stop:before', 'undo two', 'web/two:stop:after']);
});
