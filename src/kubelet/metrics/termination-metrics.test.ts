import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import type { ContainerRecord, PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { aContainer } from '../runtime/testing/observed.ts';
import { countTerminations } from './termination-metrics.ts';

test('each container that ends is counted once, by its kind, code and reason', async () => {
  const registry = new Registry();
  let state: PodRuntimeState | undefined;
  let listener: (uid: string) => void = () => undefined;
  const cache = {
    hasSynced: false,
    get: () => state,
    subscribe: (one: (uid: string) => void) => {
      listener = one;
      return () => undefined;
    },
  };
  const pod = aPod({ spec: { initContainers: [{ name: 'first' }], containers: [{ name: 'main' }] } });
  countTerminations(registry, cache, () => pod);
  const see = (...containers: readonly ContainerRecord[]) => {
    state = { uid: 'u', namespace: 'default', name: 'p', sandboxes: [], containers };
    listener('u');
  };
  const old = aContainer('main', { id: 'old', phase: 'exited' });
  see(old);
  cache.hasSynced = true;
  const first = aContainer('first', { id: 'first', phase: 'exited' });
  see(old, first, aContainer('main', { id: 'new' }));
  const ended = aContainer('main', { id: 'new', phase: 'exited', exitCode: 137, reason: 'OOMKilled' });
  see(old, first, ended);
  see(first, ended);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet'));
  assert.deepEqual(lines, [
    'kubelet_terminated_containers_total{container_type="init_container",exit_code="0",reason="Completed"} 1',
    'kubelet_terminated_containers_total{container_type="container",exit_code="137",reason="OOMKilled"} 1',
  ]);
});
