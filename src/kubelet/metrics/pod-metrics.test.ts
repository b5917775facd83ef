import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { StepState, Transition } from '#startup/transition.ts';
import { createPodMetrics } from './pod-metrics.ts';

const createdAt = '2026-01-01T00:00:00Z';

function world() {
  const registry = new Registry();
  const clock = new FakeClock(Date.parse(createdAt) + 1000);
  const metrics = createPodMetrics(registry, clock);
  const observe = metrics.observer({ first: 'admit', last: 'status' });
  const value = async (series: string) => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const step = (name: string, state: StepState) => {
    const { uid: podUid } = pod().metadata;
    observe({ podUid, namespace: 'default', name: 'p', step: name, direction: 'start', state, atMs: 0, tookMs: 0, calls: [] } satisfies Transition);
  };
  return { metrics, value, step, advance: (ms: number) => clock.advance(ms) };
}

function pod(over: { readonly running?: boolean } = {}): Pod {
  const state = over.running === true ? { running: { startedAt: createdAt } } : { waiting: {} };
  return aPod({
    metadata: { uid: 'u1', creationTimestamp: createdAt },
    spec: { containers: [{ name: 'main' }, { name: 'other' }] },
    status: { containerStatuses: [{ name: 'main', state, image: '', imageID: '', ready: false, restartCount: 0 }] },
  });
}

test('a start is timed once: until the worker runs, until the pod runs, and until the API server tells so', async () => {
  const { metrics, value, step, advance } = world();
  metrics.seen(pod());
  await advance(10);
  step('admit', { kind: 'started' });
  const end = metrics.pulling('u1');
  await advance(4000);
  end();
  step('status', { kind: 'done' });
  step('admit', { kind: 'started' });
  step('status', { kind: 'done' });
  await advance(500);
  metrics.observed(pod());
  metrics.observed(pod({ running: true }));
  metrics.observed(pod({ running: true }));
  const sum = (name: string) => Promise.all([value(`${name}_count`), value(`${name}_sum`)]);
  assert.deepEqual(await sum('kubelet_pod_worker_start_duration_seconds'), [1, 0.01]);
  assert.deepEqual(await sum('kubelet_pod_start_duration_seconds'), [1, 4.01]);
  assert.deepEqual(await sum('kubelet_pod_start_total_duration_seconds'), [1, 5.51]);
  assert.deepEqual(await sum('kubelet_pod_start_sli_duration_seconds'), [1, 1.51]);
  assert.equal(await value('kubelet_first_network_pod_start_sli_duration_seconds'), 1.51);
  assert.deepEqual(await sum('kubelet_containers_per_pod_count'), [1, 2]);
});

test('a pod that ran before the kubelet came back is no start', async () => {
  const { metrics, value, step } = world();
  metrics.seen(pod({ running: true }));
  step('admit', { kind: 'started' });
  metrics.observed(pod({ running: true }));
  assert.equal(await value('kubelet_pod_start_total_duration_seconds_count'), 0);
  assert.equal(await value('kubelet_pod_worker_start_duration_seconds_count'), 0);
});

test('containers are counted by their kind, and what keeps them by its reason; pods that are not let in by theirs', async () => {
  const { metrics, value, step } = world();
  metrics.containerStarts('init');
  metrics.containerStarts('container');
  metrics.containerBlocked('container', 'ErrImagePull');
  step('admit', { kind: 'rejected', reason: 'ROOM', detail: '', word: 'OutOfcpu' });
  assert.equal(await value('kubelet_started_containers_total{container_type="init_container"}'), 1);
  assert.equal(await value('kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"}'), 1);
  assert.equal(await value('kubelet_admission_rejections_total{reason="OutOfcpu"}'), 1);
});
