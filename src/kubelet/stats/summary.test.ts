import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFigures, PodFigures } from './figures.ts';
import { resourceMetrics } from './resource-metrics.ts';
import { computeSummary, summary } from './summary.ts';

const atMs = Date.UTC(2030, 0, 1);
const time = '2030-01-01T00:00:00Z';
const fs = { atMs, capacityBytes: 100, availableBytes: 70, usedBytes: 20, inodes: 9, inodesFree: 5, inodesUsed: 4 };
const fsText = { time, availableBytes: 70, capacityBytes: 100, usedBytes: 20, inodesFree: 5, inodes: 9, inodesUsed: 4 };
const memory = { atMs, availableBytes: undefined, usageBytes: 10, workingSetBytes: 8, rssBytes: 5, pageFaults: 3, majorPageFaults: 1 };
const compute = {
  startedAtMs: atMs - 5000,
  cpu: { atMs, totalNanos: 2_500_000_000, nanoCores: 7 },
  memory,
  swap: { atMs, usedBytes: 0, availableBytes: 0, limitBytes: 0 },
  pressure: { cpu: undefined, memory: undefined, io: { some: { totalUs: 2, avg10: 1, avg60: 2, avg300: 3 }, full: undefined } },
};
const computeText = {
  startTime: '2029-12-31T23:59:55Z',
  cpu: { time, usageNanoCores: 7, usageCoreNanoSeconds: 2_500_000_000 },
  memory: { time, usageBytes: 10, workingSetBytes: 8, rssBytes: 5, pageFaults: 3, majorPageFaults: 1 },
  swap: { time, swapAvailableBytes: 0, swapUsageBytes: 0 },
};
const interfaces = ['eth0', 'other'].map((name) => ({
  name,
  rxBytes: 1,
  rxPackets: 1,
  rxErrors: 2,
  rxDropped: 0,
  txBytes: 3,
  txPackets: 1,
  txErrors: 4,
  txDropped: 0,
}));
const pod: PodFigures = {
  ...compute,
  uid: 'u',
  namespace: 'ns',
  name: 'p',
  containers: [{ ...compute, id: 'c1', name: 'c', rootFs: fs, logs: fs }],
  network: { atMs, interfaces },
  volumes: [{ ...fs, name: 'v', claim: { namespace: 'ns', name: 'claim' } }],
  ephemeralStorage: fs,
  processCount: 2,
};
const node: NodeFigures = {
  ...compute,
  memoryCapacityBytes: 1000,
  pods: compute,
  kubelet: compute,
  podsMemory: memory,
  processes: { atMs, running: 5, max: 50 },
  network: { atMs, interfaces },
  nodeFs: fs,
  imageFs: fs,
  containerFs: fs,
  layout: 'one',
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const io = { io: { time, psi: { some: { total: 2000, avg10: 1, avg60: 2, avg300: 3 }, full: { total: 0, avg10: 0, avg60: 0, avg300: 0 } } } };
const counted = (name: string) => ({ name, rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 });
const network = { time, ...counted('eth0'), interfaces: [counted('eth0'), counted('other')] };

test('the summary has upstream names, and nothing where nothing is known', () => {
  assert.deepEqual(plain(summary('node-1', node, [pod, { ...pod, containers: [] }])), {
    node: {
      nodeName: 'node-1',
      ...computeText,
      ...io,
      systemContainers: [
        { name: 'kubelet', ...computeText },
        { name: 'pods', ...computeText },
      ],
      network,
      fs: fsText,
      runtime: { imageFs: fsText, containerFs: fsText },
      rlimit: { time, maxpid: 50, curproc: 5 },
    },
    pods: [
      {
        podRef: { name: 'p', namespace: 'ns', uid: 'u' },
        ...computeText,
        ...io,
        containers: [{ name: 'c', ...computeText, ...io, rootfs: fsText, logs: fsText }],
        network,
        volume: [{ ...fsText, name: 'v', pvcRef: { namespace: 'ns', name: 'claim' } }],
        'ephemeral-storage': fsText,
        process_stats: { process_count: 2 },
      },
    ],
  });
});

test('the short summary has CPU and memory alone', () => {
  assert.deepEqual(plain(computeSummary('node-1', node, [pod])), {
    node: {
      nodeName: 'node-1',
      ...computeText,
      systemContainers: [
        { name: 'kubelet', ...computeText },
        { name: 'pods', ...computeText },
      ],
    },
    pods: [{ podRef: { name: 'p', namespace: 'ns', uid: 'u' }, ...computeText, containers: [{ name: 'c', ...computeText }] }],
  });
});

test('figures for a metrics server carry their times, but start times and error flags do not', () => {
  const lines = resourceMetrics({ node, pods: [pod] }).split('\n');
  for (const line of [
    '# TYPE container_cpu_usage_seconds_total counter',
    `container_cpu_usage_seconds_total{container="c",namespace="ns",pod="p"} 2.5 ${atMs}`,
    `container_memory_working_set_bytes{container="c",namespace="ns",pod="p"} 8 ${atMs}`,
    `container_start_time_seconds{container="c",namespace="ns",pod="p"} ${(atMs - 5000) / 1000}`,
    `container_swap_limit_bytes{container="c",namespace="ns",pod="p"} 0 ${atMs}`,
    `container_swap_usage_bytes{container="c",namespace="ns",pod="p"} 0 ${atMs}`,
    `node_cpu_usage_seconds_total 2.5 ${atMs}`,
    `node_memory_working_set_bytes 8 ${atMs}`,
    `node_swap_usage_bytes 0 ${atMs}`,
    `pod_cpu_usage_seconds_total{namespace="ns",pod="p"} 2.5 ${atMs}`,
    `pod_memory_working_set_bytes{namespace="ns",pod="p"} 8 ${atMs}`,
    `pod_swap_usage_bytes{namespace="ns",pod="p"} 0 ${atMs}`,
    'resource_scrape_error 0',
    'scrape_error 0',
  ]) {
    assert.ok(lines.includes(line), `${line} is missing in\n${lines.join('\n')}`);
  }
  assert.match(resourceMetrics(undefined), /^resource_scrape_error 1$/m);
});
