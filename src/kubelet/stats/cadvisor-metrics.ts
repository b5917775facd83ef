import type { CgroupCpu, CgroupMemory, CgroupUsage, HostUsage, Pressure, Reading } from '../ports/usage.ts';
import { disks, filesystems, network, samples } from './cadvisor-devices.ts';
import type { NamedCgroup } from './named-cgroups.ts';
import { counter, type Family, gauge, prometheusText } from './prometheus-text.ts';

export interface MachineFacts {
  readonly cpus: number;
  readonly host: HostUsage;
  readonly labels: { readonly boot_id: string; readonly machine_id: string; readonly system_uuid: string };
}

/** `/metrics/cadvisor`. @param cgroups undefined when they could not be read */
export function cadvisorMetrics(machine: MachineFacts, cgroups: readonly NamedCgroup[] | undefined): string {
  const failed: Family = gauge('container_scrape_error', '1 if figures of containers could not be read, 0 otherwise', [
    { labels: {}, value: cgroups === undefined ? 1 : 0 },
  ]);
  const all = cgroups ?? [];
  const families = [cpu(all), memory(all), others(all), filesystems(all), disks(all), network(all), machineFamilies(machine)];
  return prometheusText([...families.flat(), failed]);
}

function cpu(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (cpu: CgroupCpu) => Reading, more = {}) => samples(cgroups, ({ usage }) => read(usage.cpu), more);
  const seconds = (read: (cpu: CgroupCpu) => Reading) => (one: CgroupCpu) => per(read(one), 1e9);
  const total = seconds(({ totalNanos }) => totalNanos);
  return [
    counter('container_cpu_usage_seconds_total', 'CPU time used', of(total, { cpu: 'total' })),
    counter('container_cpu_user_seconds_total', 'CPU time used outside the kernel', of(seconds(({ userNanos }) => userNanos))),
    counter('container_cpu_system_seconds_total', 'CPU time used in the kernel', of(seconds(({ systemNanos }) => systemNanos))),
    counter(
      'container_cpu_cfs_periods_total',
      'Periods in which the quota was watched',
      of(({ periods }) => periods),
    ),
    counter(
      'container_cpu_cfs_throttled_periods_total',
      'Periods in which the quota was used up',
      of(({ throttledPeriods }) => throttledPeriods),
    ),
    counter('container_cpu_cfs_throttled_seconds_total', 'Time held back by the quota', of(seconds(({ throttledNanos }) => throttledNanos))),
    gauge(
      'container_spec_cpu_shares',
      'Share of the CPU',
      of(({ shares }) => shares),
    ),
    gauge(
      'container_spec_cpu_period',
      'Period of the CPU quota in microseconds',
      of(({ periodUs }) => periodUs),
    ),
    gauge(
      'container_spec_cpu_quota',
      'CPU quota a period in microseconds',
      of(({ quotaUs }) => quotaUs),
    ),
  ];
}

function memory(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (memory: CgroupMemory) => Reading, more = {}) => samples(cgroups, ({ usage }) => read(usage.memory), more);
  const failures = (['container', 'hierarchy'] as const).flatMap((scope) => [
    ...of(({ pageFaults }) => pageFaults, { failure_type: 'pgfault', scope }),
    ...of(({ majorPageFaults }) => majorPageFaults, { failure_type: 'pgmajfault', scope }),
  ]);
  return [
    gauge(
      'container_memory_usage_bytes',
      'Memory in use, with all caches',
      of(({ usageBytes }) => usageBytes),
    ),
    gauge(
      'container_memory_max_usage_bytes',
      'The most memory that was in use',
      of(({ maxUsageBytes }) => maxUsageBytes),
    ),
    gauge('container_memory_working_set_bytes', 'Memory in use without inactive file pages', of(workingSet)),
    gauge(
      'container_memory_rss',
      'Memory that is backed by no file',
      of(({ rssBytes }) => rssBytes),
    ),
    gauge(
      'container_memory_cache',
      'Memory that is backed by files',
      of(({ cacheBytes }) => cacheBytes),
    ),
    gauge(
      'container_memory_mapped_file',
      'Files that are mapped to memory',
      of(({ mappedFileBytes }) => mappedFileBytes),
    ),
    gauge(
      'container_memory_swap',
      'Swap in use',
      of(({ swapBytes }) => swapBytes),
    ),
    counter(
      'container_memory_failcnt',
      'Times that a limit was met',
      of(({ failures: met }) => met),
    ),
    counter('container_memory_failures_total', 'Page faults', failures),
    counter(
      'container_oom_events_total',
      'Processes that were killed for want of memory',
      of(({ oomKills }) => oomKills),
    ),
    gauge(
      'container_spec_memory_limit_bytes',
      'Limit of memory, 0: none',
      of(({ limitBytes }) => limitBytes ?? 0),
    ),
    gauge(
      'container_spec_memory_swap_limit_bytes',
      'Limit of swap, 0: none',
      of(({ swapLimitBytes }) => swapLimitBytes ?? 0),
    ),
  ];
}

function others(cgroups: readonly NamedCgroup[]): readonly Family[] {
  const of = (read: (one: NamedCgroup) => Reading) => samples(cgroups, read);
  const stalled = (what: keyof CgroupUsage['pressure'], kind: keyof Pressure) => of(({ usage }) => per(usage.pressure[what]?.[kind]?.totalUs, 1e6));
  const pressures = (['cpu', 'memory', 'io'] as const).flatMap((what) => [
    counter(`container_pressure_${what}_waiting_seconds_total`, `Time in which some tasks waited for ${what}`, stalled(what, 'some')),
    counter(`container_pressure_${what}_stalled_seconds_total`, `Time in which all tasks waited for ${what}`, stalled(what, 'full')),
  ]);
  return [
    gauge(
      'container_last_seen',
      'When the container was last seen',
      of(({ atMs }) => Math.floor(atMs / 1000)),
    ),
    gauge(
      'container_start_time_seconds',
      'When the container was made',
      of(({ usage }) => Math.floor(usage.startedAtMs / 1000)),
    ),
    gauge(
      'container_processes',
      'Processes that run',
      of(({ usage }) => usage.processes),
    ),
    gauge(
      'container_threads',
      'Threads that run',
      of(({ usage }) => usage.threads),
    ),
    gauge(
      'container_threads_max',
      'Threads that may run',
      of(({ usage }) => usage.threadsLimit),
    ),
    ...pressures,
  ];
}

function machineFamilies({ cpus, host, labels }: MachineFacts): readonly Family[] {
  return [
    gauge('machine_cpu_cores', 'CPUs of the host', [{ labels, value: cpus }]),
    gauge('machine_memory_bytes', 'Memory of the host', [{ labels, value: host.memoryBytes }]),
    gauge('machine_scrape_error', '1 if figures of the host could not be read, 0 otherwise', [{ labels: {}, value: 0 }]),
    gauge('machine_swap_bytes', 'Swap of the host', [{ labels, value: host.swapBytes }]),
  ];
}

function workingSet({ usageBytes, inactiveFileBytes = 0 }: CgroupMemory): Reading {
  return usageBytes === undefined ? undefined : Math.max(0, usageBytes - inactiveFileBytes);
}

function per(reading: Reading, divisor: number): Reading {
  return reading === undefined ? undefined : reading / divisor;
}
