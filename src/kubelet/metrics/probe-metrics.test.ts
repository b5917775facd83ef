import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import { createProbeMetrics } from './probe-metrics.ts';

const pod = aPod({ metadata: { name: 'p', namespace: 'default', uid: 'u1' } });

test('probes are counted by their result, and timed unless they failed', async () => {
  const registry = new Registry();
  const metrics = createProbeMetrics(registry);
  metrics.probed(pod, 'main', 'liveness', 'success', 20);
  metrics.probed(pod, 'main', 'liveness', 'success-with-warning', 20);
  metrics.probed(pod, 'main', 'liveness', 'failure', 20);
  metrics.probed(pod, 'main', 'readiness', 'error', 20);
  const lines = (await registry.metrics()).split('\n');
  const of = (kind: string) => `probe_type="${kind}",container="main",pod="p",namespace="default"`;
  for (const line of [
    `prober_probe_total{${of('Liveness')},result="successful",pod_uid="u1"} 2`,
    `prober_probe_total{${of('Liveness')},result="failed",pod_uid="u1"} 1`,
    `prober_probe_total{${of('Readiness')},result="unknown",pod_uid="u1"} 1`,
    `prober_probe_duration_seconds_count{${of('Liveness')}} 2`,
    `prober_probe_duration_seconds_count{${of('Readiness')}} 1`,
  ]) {
    assert.ok(lines.includes(line), `${line} is missing in\n${lines.join('\n')}`);
  }
});

test('a pod that is gone leaves no series', async () => {
  const registry = new Registry();
  const metrics = createProbeMetrics(registry);
  metrics.probed(pod, 'main', 'liveness', 'success', 20);
  metrics.probed(pod, 'main', 'startup', 'failure', 20);
  metrics.gone(pod);
  assert.doesNotMatch(await registry.metrics(), /^prober/m);
});
