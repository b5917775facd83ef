import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { aContainer, aSandbox, observedOf } from '../runtime/testing/observed.ts';
import { type GarbageRules, planGarbage, planPodGarbage } from './plan-garbage.ts';

const rules: GarbageRules = { keepPerName: 1, keepInAll: -1, minimumAgeMs: 0 };
const nobody = () => false;
const dead = (name: string, restartCount: number, createdAtMs = 2000 + restartCount) =>
  aContainer(name, { phase: 'exited', restartCount, createdAtMs, id: `${name}-${restartCount}` });
const podOf = (uid: string, ...containers: readonly ContainerRecord[]): PodRuntimeState => ({ ...observedOf([aSandbox()], containers), uid });

function plan(pods: readonly PodRuntimeState[], change: Partial<GarbageRules> = {}, keepsNothing: (uid: string) => boolean = nobody) {
  return planGarbage(pods, keepsNothing, { ...rules, ...change }, 10_000).map(({ pod, container }) => `${pod.uid}/${container.id}`);
}

test('the newest dead of each name is kept, what runs is not touched', () => {
  const pod = podOf('a', aContainer('main', { restartCount: 3 }), dead('main', 2), dead('main', 1), dead('init', 1), dead('init', 0));
  assert.deepEqual(plan([pod]), ['a/main-1', 'a/init-0']);
  assert.deepEqual(plan([pod], { keepPerName: 0 }), ['a/main-2', 'a/main-1', 'a/init-1', 'a/init-0']);
  assert.deepEqual(planPodGarbage(pod, 1), [dead('main', 1), dead('init', 0)]);
});

test('a pod of which nothing is kept loses all its dead, but nothing that runs', () => {
  const pods = [podOf('gone', aContainer('side'), dead('main', 1), dead('main', 0)), podOf('here', dead('main', 0))];
  assert.deepEqual(
    plan(pods, {}, (uid) => uid === 'gone'),
    ['gone/main-1', 'gone/main-0'],
  );
});

test('what was made after the minimum age is left alone and not counted', () => {
  const pod = podOf('a', dead('main', 2, 9_500), dead('main', 1, 8_000), dead('main', 0, 7_000));
  assert.deepEqual(plan([pod], { minimumAgeMs: 1000 }), ['a/main-0']);
});

test('beyond the number for the node each name first has an equal share, then the oldest of all go', () => {
  const a = podOf('a', dead('main', 3, 900), dead('main', 2, 800), dead('main', 1, 700), dead('main', 0, 600));
  const b = podOf('b', dead('main', 1, 500), dead('main', 0, 400));
  const many = { keepPerName: 10 };
  assert.deepEqual(plan([a, b], { ...many, keepInAll: 6 }), []);
  assert.deepEqual(plan([a, b], { ...many, keepInAll: 4 }), ['a/main-1', 'a/main-0']);
  assert.deepEqual(plan([a, b], { ...many, keepInAll: 1 }), ['a/main-2', 'a/main-1', 'a/main-0', 'b/main-1', 'b/main-0']);
  assert.deepEqual(plan([a, b], { ...many, keepInAll: 0 }).length, 6);
});

test('a container that was made and waits for its start is no garbage, one that another has taken the place of is', () => {
  const made = (restartCount: number) => aContainer('main', { phase: 'created', restartCount });
  assert.deepEqual(plan([podOf('a', made(2), dead('main', 1))]), []);
  assert.deepEqual(plan([podOf('a', aContainer('main', { restartCount: 3 }), made(2), dead('main', 1))]), ['a/main-1']);
});

test('one whose state the runtime does not know counts as dead', () => {
  const unknown = aContainer('main', { phase: 'unknown', restartCount: 0 });
  assert.deepEqual(plan([podOf('a', dead('main', 1), unknown)]), ['a/main-0']);
});

test('whatever the rules, no container goes twice, none that runs, and the limits hold', () => {
  const phase = fc.constantFrom('running', 'exited', 'unknown', 'created');
  const aPod = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), phase), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(aPod, { maxLength: 5 }), fc.nat(3), fc.integer({ min: -1, max: 6 }), (shapes, keepPerName, keepInAll) => {
      const pods = shapes.map((shape, pod) =>
        podOf(
          `pod-${pod}`,
          ...shape.map(([name, one], index) =>
            aContainer(name, { phase: one, restartCount: 100 - index, createdAtMs: 5000 - index, id: `${index}` }),
          ),
        ),
      );
      const doomed = planGarbage(pods, nobody, { keepPerName, keepInAll, minimumAgeMs: 0 }, 10_000);
      assert.equal(new Set(doomed.map(({ container }) => container)).size, doomed.length);
      assert.ok(doomed.every(({ container }) => container.phase !== 'running'));
      const gone = new Set(doomed.map(({ container }) => container));
      const left = pods.flatMap(({ uid, containers }) =>
        containers.filter((one) => (one.phase === 'exited' || one.phase === 'unknown') && !gone.has(one)).map(({ name }) => `${uid}/${name}`),
      );
      const counts = new Map<string, number>();
      for (const unit of left) counts.set(unit, (counts.get(unit) ?? 0) + 1);
      assert.ok([...counts.values()].every((count) => count <= keepPerName));
      if (keepInAll >= 0) assert.ok(left.length <= keepInAll);
    }),
  );
});
