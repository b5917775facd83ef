import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { MemoryUsage } from '#os/memory/usage.ts';
import type { CgroupUsage } from '../ports/usage.ts';
import { cgroupNames } from '../resources/cgroup-names.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { cadvisorMetrics, type MachineFacts } from './cadvisor-metrics.ts';
import type { PodAsFound } from './compute-figures.ts';
import { namedCgroups } from './named-cgroups.ts';

const { signal } = new AbortController();

function aCgroup(usageBytes: number): CgroupUsage {
  const memory = { usageBytes, inactiveFileBytes: 10, rssBytes: 7, pageFaults: 3, majorPageFaults: 1, oomKills: 2 };
  const cpu = { totalNanos: 1_500_000_000, userNanos: 1e9, systemNanos: 5e8, throttledNanos: 2e9, shares: 102 };
  const some = { totalUs: 2_500_000, avg10: 0, avg60: 0, avg300: 0 };
  const pressure = { cpu: { some, full: undefined }, memory: undefined, io: undefined };
  return { startedAtMs: 5000, cpu, memory, processes: 2, threads: 3, threadsLimit: undefined, pressure } as CgroupUsage; // what the page prints
}

const found: PodAsFound = {
  state: { uid: 'u', namespace: 'ns', name: 'p', sandboxes: [], containers: [] } satisfies PodRuntimeState,
  sandbox: { id: 's1', attempt: 0, ready: true, createdAtMs: 0, hostNetwork: false, ips: undefined },
  running: [{ id: 'c1', name: 'main', image: 'busybox' } as PodAsFound['running'][number]], // what the labels are made of
  cgroup: '/pods/besteffort/podu',
  cgroups: new Map([
    ['c1', '/pods/besteffort/podu/c1'],
    ['s1', '/pods/besteffort/podu/s1'],
  ]),
};

const host = { bootedAtMs: 0, memoryBytes: 1024, swapBytes: 0, swapFreeBytes: 0, tasks: 1, maxTasks: 2 };
const machine: MachineFacts = { cpus: 2, host, labels: { boot_id: 'b', machine_id: 'm', system_uuid: 's' } };

async function page(change: Partial<PodAsFound> = {}): Promise<readonly string[]> {
  const usage = new MemoryUsage();
  const clock = new FakeClock(9000);
  for (const path of ['/', '/pods', '/pods/burstable', '/pods/besteffort', '/pods/besteffort/podu']) usage.cgroups.set(path, aCgroup(1000));
  for (const id of ['c1', 's1']) usage.cgroups.set(`/pods/besteffort/podu/${id}`, aCgroup(100));
  const counts = { rxPackets: 2, rxErrors: 3, rxDropped: 4, txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 };
  usage.interfaces.set('', [
    { name: 'eth0', rxBytes: 1000, ...counts },
    { name: 'veth1', rxBytes: 9, ...counts },
  ]);
  usage.interfaces.set('/pods/besteffort/podu/s1', [{ name: 'eth0', rxBytes: 1, ...counts }]);
  usage.disksOf.set('/pods/besteffort/podu/c1', [{ device: '/dev/vda', reads: 3, readBytes: 4096, writes: 5, writtenBytes: 8192 }]);
  const pods = cgroupNames('/pods', 'cgroupfs');
  const layers = async () => new Map([['c1', { usedBytes: 77 }]]);
  const deps = { usage, clock, podCgroups: pods, root: '/', layers, find: async () => [{ ...found, ...change }] };
  return cadvisorMetrics(machine, await namedCgroups(deps, signal)).split('\n');
}

const ofContainer = 'container="main",id="/pods/besteffort/podu/c1",image="busybox",name="c1",namespace="ns",pod="p"';
const ofSandbox = 'container="",id="/pods/besteffort/podu/s1",image="",name="s1",namespace="ns",pod="p"';
const ofPod = 'container="",id="/pods/besteffort/podu",image="",name="",namespace="ns",pod="p"';
const ofHost = 'container="",id="/",image="",name="",namespace="",pod=""';

test('Prometheus set-ups find the series that they ask for', async () => {
  const lines = await page();
  for (const line of [
    `container_cpu_usage_seconds_total{${ofContainer},cpu="total"} 1.5 9000`,
    `container_cpu_cfs_throttled_seconds_total{${ofContainer}} 2 9000`,
    `container_memory_working_set_bytes{${ofContainer}} 90 9000`,
    `container_oom_events_total{${ofContainer}} 2 9000`,
    `container_fs_reads_total{${ofContainer},device="/dev/vda"} 3 9000`,
    `container_fs_writes_bytes_total{${ofContainer},device="/dev/vda"} 8192 9000`,
    `container_blkio_device_usage_total{${ofContainer},device="/dev/vda",operation="Read"} 4096 9000`,
    'machine_scrape_error 0',
    `container_memory_working_set_bytes{${ofPod}} 990 9000`,
    `container_memory_rss{${ofContainer}} 7 9000`,
    `container_memory_failures_total{${ofContainer},failure_type="pgmajfault",scope="container"} 1 9000`,
    `container_pressure_cpu_waiting_seconds_total{${ofContainer}} 2.5 9000`,
    `container_fs_usage_bytes{${ofContainer},device=""} 77 9000`,
    `container_network_receive_bytes_total{${ofSandbox},interface="eth0"} 1 9000`,
    `container_network_transmit_packets_dropped_total{${ofSandbox},interface="eth0"} 8 9000`,
    `container_network_receive_bytes_total{${ofHost},interface="eth0"} 1000 9000`,
    `container_start_time_seconds{${ofContainer}} 5 9000`,
    'machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 2',
    'container_scrape_error 0',
  ]) {
    assert.ok(lines.includes(line), `${line} is missing in\n${lines.join('\n')}`);
  }
});

test("traffic of the host's network is told once", async () => {
  const { sandbox } = found;
  const lines = await page({ sandbox: sandbox === undefined ? undefined : { ...sandbox, hostNetwork: true } });
  assert.equal(lines.filter((line) => line.startsWith('container_network_receive_bytes_total{')).length, 1);
});

test('a scrape that failed says so', () => {
  assert.match(cadvisorMetrics(machine, undefined), /^container_scrape_error 1$/m);
});

test('ends of pods’ links on the host are not counted with the host', async () => {
  assert.equal(
    (await page()).some((line) => line.includes('veth1')),
    false,
  );
});
