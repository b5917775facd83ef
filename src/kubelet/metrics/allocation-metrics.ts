import type { Registry } from 'prom-client';
import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import { counter, histogram, number } from './families.ts';

export interface CpuFigures {
  /** CPUs that all share. */
  readonly shared: number;
  /** CPUs that one container has alone. */
  readonly exclusive: number;
}

export interface AllocationMeters {
  readonly clock: Clock;
  /** How many containers of the pod get CPUs for themselves. */
  readonly pinned: (pod: Pod) => number;
  readonly cpus: () => CpuFigures;
}

/** The same allocations; what is asked of them at admission is counted, under the names of upstream's managers. */
export function withAllocationMetrics(allocations: AllocationsPort, registry: Registry, { clock, pinned, cpus }: AllocationMeters): AllocationsPort {
  const requests = counter(registry, 'kubelet_topology_manager_admission_requests_total', 'Pods for which devices, CPUs and memory were chosen');
  const errors = counter(registry, 'kubelet_topology_manager_admission_errors_total', 'Pods that were refused because these do not fit together');
  const duration = histogram(
    registry,
    'kubelet_topology_manager_admission_duration_ms',
    'Milliseconds in which they were chosen',
    [],
    Array.from({ length: 15 }, (_, power) => 0.05 * 2 ** power),
  );
  const pins = counter(registry, 'kubelet_cpu_manager_pinning_requests_total', 'Containers that were to get CPUs for themselves');
  const pinErrors = counter(registry, 'kubelet_cpu_manager_pinning_errors_total', 'Pods whose containers did not get them');
  number(registry, 'kubelet_cpu_manager_shared_pool_size_millicores', 'CPUs that all share, in thousandths', () => cpus().shared * 1000);
  number(registry, 'kubelet_cpu_manager_exclusive_cpu_allocation_count', 'CPUs that one container has alone', () => cpus().exclusive);
  return {
    async allocate(pod, signal) {
      const startedAt = clock.monotonic();
      const count = pinned(pod);
      requests.inc();
      pins.inc(count);
      const answer = await allocations.allocate(pod, signal);
      duration.observe(clock.monotonic() - startedAt);
      if (answer.admitted) return answer;
      if (answer.reason === 'TopologyAffinityError') errors.inc();
      else if (count > 0) pinErrors.inc();
      return answer;
    },
    prepare: (pod, container, signal) => allocations.prepare(pod, container, signal),
    release: (podUid) => allocations.release(podUid),
    resources: () => allocations.resources(),
  };
}
