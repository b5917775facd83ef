import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createResizeMetrics } from './resize-metrics.ts';

test('changes of sizes are counted by what changes and how', async () => {
  const registry = new Registry();
  const asked = createResizeMetrics(registry, () => ({ deferred: 2, infeasible: 1, inProgress: 3 }));
  const before = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } };
  const after = { requests: { cpu: '1000m', memory: '2Gi' }, limits: { cpu: '1500m' } };
  asked({ containers: { main: before }, pod: undefined }, { containers: { main: after }, pod: undefined });
  const added = { requests: { cpu: '1' }, limits: {} };
  asked({ containers: { main: { requests: {}, limits: {} } }, pod: undefined }, { containers: { main: added }, pod: undefined });
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet'));
  const of = (resource: string, requirement: string, operation: string) =>
    `kubelet_container_requested_resizes_total{resource="${resource}",requirement="${requirement}",operation="${operation}"} 1`;
  assert.deepEqual(lines, [
    of('memory', 'requests', 'increase'),
    of('cpu', 'limits', 'decrease'),
    of('memory', 'limits', 'remove'),
    of('cpu', 'requests', 'add'),
    'kubelet_pod_pending_resizes{reason="deferred"} 2',
    'kubelet_pod_pending_resizes{reason="infeasible"} 1',
    'kubelet_pod_in_progress_resizes 3',
  ]);
});
