import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '#base/errors.ts';
import { Cell } from '#base/watchable.ts';
import type { Facts, PodRef, Step, StopRequest } from '../step.ts';

/** One step in one world, fresh for each law. */
export interface StepCase<R extends Facts, W extends Facts, Reason extends string> {
  readonly step: Step<R, W, Reason>;
  readonly pod: PodRef;
  /** Facts with which the step comes to `done`. */
  readonly facts: R;
  /** What the world holds for the pod, for comparison; absent: the step changes nothing. */
  readonly world?: () => unknown;
}

export function stopNow(reason: StopRequest['reason'] = 'deleted'): StopRequest {
  return { reason, deadlineMs: new Cell(0) };
}

/** What holds for every step, whatever it does. `make` builds the step in a fresh world in which `run` is done at once. */
export function stepLaws<R extends Facts, W extends Facts, Reason extends string>(name: string, make: () => StepCase<R, W, Reason>): void {
  const signal = new AbortController().signal;

  test(`${name}: run is done and writes what it declares, nothing else`, async () => {
    const { step, pod, facts } = make();
    const outcome = await step.run(pod, facts, signal);
    assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
    if (outcome.kind === 'done') assert.deepEqual(Object.keys(outcome.writes).sort(), [...step.writes].sort());
  });

  test(`${name}: run uses only the facts that it declares`, async () => {
    const { step, pod, facts } = make();
    const touched = new Set<string>();
    const watched = new Proxy(facts, {
      get(target, property) {
        touched.add(String(property));
        return Reflect.get(target, property, target);
      },
    });
    await step.run(pod, watched, signal);
    assert.deepEqual(
      [...touched].filter((fact) => !step.reads.some((read) => read === fact)),
      [],
    );
  });

  test(`${name}: run twice is run once`, async () => {
    const { step, pod, facts, world = () => undefined } = make();
    const first = await step.run(pod, facts, signal);
    const after = world();
    assert.deepEqual(await step.run(pod, facts, signal), first);
    assert.deepEqual(world(), after);
  });

  test(`${name}: undo takes back what run did, twice and from the world alone`, async () => {
    const { step, pod, facts, world = () => undefined } = make();
    if (step.undo === undefined) return;
    const before = world();
    await step.run(pod, facts, signal);
    for (const _ of [1, 2]) await step.undo(pod, (await step.find?.(pod, signal)) ?? {}, stopNow(), signal);
    assert.deepEqual(world(), before);
  });

  test(`${name}: undo of what never ran is no error`, async () => {
    const { step, pod } = make();
    await step.undo?.(pod, (await step.find?.(pod, signal)) ?? {}, stopNow(), signal);
  });

  test(`${name}: an aborted signal ends in an AppError or a normal outcome`, async () => {
    const { step, pod, facts } = make();
    try {
      await step.run(pod, facts, AbortSignal.abort());
    } catch (error) {
      assert.ok(error instanceof AppError, String(error));
    }
  });

  test(`${name}: its documentation is complete`, () => {
    const { step } = make();
    assert.match(step.name, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(step.title !== '' && step.slowAfterMs > 0);
    for (const [reason, doc] of Object.entries<Step<R, W, string>['reasons'][string]>(step.reasons)) {
      assert.ok(doc.meaning.length > 10 && doc.mend.length > 10, `reason ${reason} of ${step.name} explains itself`);
    }
  });
}
