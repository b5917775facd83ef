import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { NamespaceMode, PodSandboxConfig } from '#wire/generated/cri.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { MemoryRuntime } from '../runtime/testing/memory-runtime.ts';
import { withRuntimeMetrics } from './runtime-metrics.ts';

const signal = new AbortController().signal;
const sandbox = (name: string, mode: NamespaceMode = NamespaceMode.NODE) =>
  PodSandboxConfig.create({
    metadata: { name, uid: name, namespace: 'default', attempt: 0 },
    linux: { securityContext: { namespaceOptions: { usernsOptions: { mode } } } },
  });

async function counted(work: (runtime: RuntimePort, memory: MemoryRuntime) => Promise<unknown>): Promise<(series: string) => number | undefined> {
  const registry = new Registry();
  const clock = new FakeClock();
  const memory = new MemoryRuntime(clock);
  await work(withRuntimeMetrics(memory, registry, clock), memory);
  const lines = new Map((await registry.metrics()).split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  return (series) => lines.get(series);
}

test('each call to the runtime is counted and timed under upstream’s word for it', async () => {
  const value = await counted(async (runtime) => {
    const id = await runtime.runPodSandbox(sandbox('a'), '', signal);
    await runtime.podSandboxStatus(id, signal);
    await runtime.listPodSandboxes({}, signal);
    await runtime.listContainers({}, signal);
    await runtime.listContainers({}, signal);
  });
  const calls = (operation: string) => value(`kubelet_runtime_operations_total{operation_type="${operation}"}`);
  assert.deepEqual(['run_podsandbox', 'podsandbox_status', 'list_podsandbox', 'list_containers', 'stop_podsandbox'].map(calls), [
    1,
    1,
    1,
    2,
    undefined,
  ]);
  assert.equal(value('kubelet_runtime_operations_duration_seconds_bucket{le="0.005",operation_type="list_containers"}'), 2);
  assert.equal(value('kubelet_runtime_operations_errors_total{operation_type="list_containers"}'), undefined);
});

test('a sandbox that cannot be made is an error of the call, of its handler and of the pod', async () => {
  const value = await counted(async (runtime, memory) => {
    await runtime.runPodSandbox(sandbox('a'), 'gvisor', signal);
    memory.before = (call) => {
      if (call === 'runPodSandbox') throw new Error('no network');
    };
    await assert.rejects(runtime.runPodSandbox(sandbox('b', NamespaceMode.POD), 'gvisor', signal), /no network/);
  });
  assert.equal(value('kubelet_runtime_operations_errors_total{operation_type="run_podsandbox"}'), 1);
  assert.equal(value('kubelet_run_podsandbox_duration_seconds_count{runtime_handler="gvisor"}'), 2);
  assert.equal(value('kubelet_run_podsandbox_errors_total{runtime_handler="gvisor"}'), 1);
  assert.deepEqual([value('kubelet_started_pods_total'), value('kubelet_started_pods_errors_total')], [2, 1]);
  assert.deepEqual([value('kubelet_started_user_namespaced_pods_total'), value('kubelet_started_user_namespaced_pods_errors_total')], [1, 1]);
});
