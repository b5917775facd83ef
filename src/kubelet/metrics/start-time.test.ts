import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod } from '#api/testing/objects.ts';
import type { ContainerState, ContainerStatus } from '#api/types/core-v1.ts';
import { coveredMs, hasStarted, initSpans, isPromisedFast } from './start-time.ts';

function status(name: string, state: ContainerState): ContainerStatus {
  return { name, state, image: '', imageID: '', ready: false, restartCount: 0 };
}

const span = fc.tuple(fc.nat(100), fc.nat(20)).map(([fromMs, ms]) => ({ fromMs, toMs: fromMs + ms }));

test('times that overlap count once, in whatever order they are told', () => {
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      const ticks = Array.from({ length: 130 }, (_, ms) => ms).filter((ms) => spans.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs));
      assert.equal(coveredMs(spans), ticks.length);
    }),
  );
});

test('a pod has started when each of its containers runs', () => {
  const pod = (...states: readonly ContainerState[]) => aPod({ status: { containerStatuses: states.map((state, at) => status(`c${at}`, state)) } });
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  assert.equal(hasStarted(pod()), false);
  assert.equal(hasStarted(pod(running, { waiting: {} })), false);
  assert.equal(hasStarted(pod(running, running)), true);
});

test('init containers that ended count, sidecars do not', () => {
  const initContainers = [{ name: 'first' }, { name: 'proxy', restartPolicy: 'Always' }, { name: 'second' }];
  const ended = { terminated: { startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:03Z', exitCode: 0 } };
  const initContainerStatuses = [status('first', ended), status('proxy', ended), status('second', { waiting: {} })];
  assert.equal(coveredMs(initSpans(aPod({ spec: { initContainers }, status: { initContainerStatuses } }))), 3000);
});

test('pods that wait for storage or for a node are not promised a fast start', () => {
  assert.equal(
    isPromisedFast(
      aPod({
        spec: {
          volumes: [
            { name: 'a', emptyDir: {} },
            { name: 'b', secret: { secretName: 's' } },
          ],
        },
      }),
    ),
    true,
  );
  assert.equal(isPromisedFast(aPod({ spec: { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }] } })), false);
  assert.equal(isPromisedFast(aPod({ status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } })), false);
});
