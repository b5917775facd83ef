import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { aPod } from '#api/testing/objects.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import type { AllocationAnswer, AllocationsPort } from '../ports/allocations.ts';
import { withAllocationMetrics } from './allocation-metrics.ts';

test('admissions are counted by what came of them', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const refused = (reason: string): AllocationAnswer => ({ admitted: false, reason, message: '' });
  const answers: AllocationAnswer[] = [{ admitted: true }, refused('TopologyAffinityError'), refused('UnexpectedAdmissionError')];
  const port: AllocationsPort = {
    async allocate() {
      await clock.advance(2);
      return answers.shift() ?? { admitted: true };
    },
    prepare: async () => undefined,
    release: () => undefined,
    resources: () => ({}),
  };
  const counted = withAllocationMetrics(port, registry, { clock, pinned: () => 2, cpus: () => ({ shared: 3, exclusive: 1 }) });
  for (let pods = 0; pods < 3; pods += 1) await counted.allocate(aPod({}), signal);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet') && !line.includes('bucket'));
  assert.deepEqual(lines, [
    'kubelet_topology_manager_admission_requests_total 3',
    'kubelet_topology_manager_admission_errors_total 1',
    'kubelet_topology_manager_admission_duration_ms_sum 6',
    'kubelet_topology_manager_admission_duration_ms_count 3',
    'kubelet_cpu_manager_pinning_requests_total 6',
    'kubelet_cpu_manager_pinning_errors_total 1',
    'kubelet_cpu_manager_shared_pool_size_millicores 3000',
    'kubelet_cpu_manager_exclusive_cpu_allocation_count 1',
  ]);
});
