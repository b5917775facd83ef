import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { WorkerFigure } from '../pod-workers/pod-workers.ts';
import { aContainer, aSandbox } from '../runtime/testing/observed.ts';
import { createRelistMetrics } from './relist-metrics.ts';
import { registerStateMetrics } from './state-metrics.ts';

const annotations = { 'kubernetes.io/config.source': 'file' };

async function told(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#') && line !== '');
}

test('pods and containers are counted by what they do and who wants them', async () => {
  const registry = new Registry();
  const { spec: _, ...found } = aPod({ metadata: { name: 'found' } });
  const workers: readonly WorkerFigure[] = [
    { pod: aPod({ spec: { ephemeralContainers: [{ name: 'debugger' }] } }), phase: 'syncing', isGone: false },
    { pod: aPod({ metadata: { annotations } }), phase: 'syncing', isGone: false },
    { pod: aPod({}), phase: 'stopped', isGone: false },
    { pod: aPod({}), phase: 'stopping', isGone: true },
    { pod: found, phase: 'stopping', isGone: true },
  ];
  const named = { uid: 'u', namespace: 'default', name: 'p' };
  const runtimePods = [
    {
      ...named,
      sandboxes: [aSandbox({ ready: true })],
      containers: [aContainer('main', { phase: 'running' }), aContainer('old', { phase: 'exited' })],
    },
    { ...named, sandboxes: [aSandbox({ ready: false })], containers: [aContainer('old', { phase: 'exited' })] },
  ];
  registerStateMetrics(registry, {
    nodeName: 'node-1',
    version: 'v1.36.0',
    cgroupVersion: 'v2',
    workers: () => workers,
    runtimePods: () => runtimePods,
    mirrors: () => 1,
  });
  assert.deepEqual(await told(registry), [
    'kubelet_node_name{node="node-1"} 1',
    'kubernetes_build_info{git_version="v1.36.0",major="1",minor="36",platform="linux"} 1',
    'kubelet_cgroup_version 2',
    'kubelet_running_pods 1',
    'kubelet_running_containers{container_state="running"} 1',
    'kubelet_running_containers{container_state="exited"} 2',
    'kubelet_desired_pods{static=""} 2',
    'kubelet_desired_pods{static="true"} 1',
    'kubelet_active_pods{static=""} 3',
    'kubelet_active_pods{static="true"} 1',
    'kubelet_mirror_pods 1',
    'kubelet_working_pods{lifecycle="sync",config="desired",static=""} 1',
    'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 1',
    'kubelet_working_pods{lifecycle="terminated",config="desired",static=""} 1',
    'kubelet_working_pods{lifecycle="terminating",config="orphan",static=""} 1',
    'kubelet_working_pods{lifecycle="terminating",config="runtime_only",static="unknown"} 1',
    'kubelet_managed_ephemeral_containers 1',
  ]);
});

test('looks at the runtime are timed, and the time between their beginnings', async () => {
  const registry = new Registry();
  const clock = new FakeClock(0);
  const metrics = createRelistMetrics(registry, clock);
  assert.equal(
    (await told(registry)).some((line) => line.startsWith('kubelet_pleg_last_seen')),
    false,
  );
  await clock.advance(2000);
  metrics.relisted(1000);
  await clock.advance(30_000);
  metrics.relisted(500);
  const lines = await told(registry);
  assert.ok(lines.includes('kubelet_pleg_last_seen_seconds 32'));
  assert.ok(lines.includes('kubelet_pleg_relist_duration_seconds_sum 1.5'));
  assert.ok(lines.includes('kubelet_pleg_relist_interval_seconds_sum 30.5'));
  assert.equal(metrics.lastAtMs(), 32_000);
});
