import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseKubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { nodeAllocatable } from '../node/node-resources.ts';
import { cpusOf } from './cpu-set.ts';
import { checkBudget, nodeBudget, thresholdBytes } from './node-budget.ts';
import { someCgroupOptions } from './testing/cgroup-options.ts';

const Mi = 2 ** 20;
const budgetOf = (configuration: Readonly<Record<string, unknown>>, cpus = 4) => nodeBudget(parseKubeletConfiguration(configuration, 'test'), cpus);

test('what is reserved for the system and for Kubernetes counts together', () => {
  const { reserved, system, kube } = budgetOf({
    systemReserved: { cpu: '500m', memory: '100Mi', 'ephemeral-storage': '1Gi', pid: '100' },
    kubeReserved: { cpu: '250m', memory: '50Mi' },
  });
  assert.deepEqual(reserved, { cpuMilli: 750, memoryBytes: 150 * Mi, ephemeralStorageBytes: 1024 * Mi, pids: 100 });
  assert.deepEqual([system.cpuMilli, kube.cpuMilli], [500, 250]);
});

test('CPUs named for the system take the place of both reservations of CPU', () => {
  const { reserved } = budgetOf({ systemReserved: { cpu: '3' }, kubeReserved: { cpu: '3', memory: '1Mi' }, reservedSystemCPUs: '0-1,7' });
  assert.deepEqual([reserved.cpuMilli, reserved.memoryBytes], [3000, Mi]);
  assert.throws(() => budgetOf({ reservedSystemCPUs: '0', kubeReservedCgroup: '/x' }), { code: 'INVALID_INPUT' });
  assert.throws(() => budgetOf({ reservedSystemCPUs: '2-1' }), { code: 'INVALID_INPUT' });
});

test('only four resources can be reserved, and not less than none', () => {
  assert.throws(() => budgetOf({ systemReserved: { gpu: '1' } }), { message: 'cannot reserve "gpu" resource' });
  assert.throws(() => budgetOf({ kubeReserved: { cpu: '-1' } }), { message: 'resource quantity for "cpu" cannot be negative: -1' });
});

test('subtle 60: eviction set for memory alone leaves no threshold for disks, unless the defaults are merged', () => {
  const bytes = (configuration: Readonly<Record<string, unknown>>) => {
    const { memory, ephemeralStorage } = budgetOf(configuration).thresholds;
    return [thresholdBytes(memory, 1000 * Mi), thresholdBytes(ephemeralStorage, 1000)];
  };
  const evictionHard = { 'memory.available': '10%' };
  assert.deepEqual(bytes({}), [100 * Mi, 100]);
  assert.deepEqual(bytes({ evictionHard }), [Math.floor(1000 * Mi * Math.fround(0.1)), 0]);
  assert.deepEqual(bytes({ evictionHard: { 'memory.available': '0%', 'nodefs.available': '100%' } }), [0, 0]);
  assert.deepEqual(bytes({ evictionHard: { 'memory.available': '1Mi' }, mergeDefaultEvictionSettings: true }), [Mi, 100]);
});

test('pods per core limit the pods of a node with few cores', () => {
  assert.deepEqual([budgetOf({ podsPerCore: 10 }).maxPods, budgetOf({ podsPerCore: 10, maxPods: 20 }).maxPods, budgetOf({}).maxPods], [40, 20, 110]);
});

test('more reserved than there is is a mistake that is told with the numbers', () => {
  const budget = budgetOf({ systemReserved: { cpu: '5' } });
  assert.throws(() => checkBudget(budget, { cpuMilli: 4000, memoryBytes: 200 * Mi, ephemeralStorageBytes: 100 }), {
    message: 'invalid Node Allocatable configuration. Resource "cpu" has a reservation of 5 but capacity of 4. Expected capacity >= reservation.',
  });
  checkBudget(budgetOf({}), { cpuMilli: 4000, memoryBytes: 200 * Mi, ephemeralStorageBytes: 100 });
});

test('subtle 12: the limit of all pods leaves the eviction reserve out, what is promised to pods takes it off', () => {
  const memoryBytes = 8192 * Mi;
  fc.assert(
    fc.property(fc.nat(4000), fc.nat(4000), fc.nat(4000), (systemMi, kubeMi, evictionMi) => {
      const configuration = {
        systemReserved: { memory: `${systemMi}Mi` },
        kubeReserved: { memory: `${kubeMi}Mi` },
        evictionHard: { 'memory.available': `${evictionMi}Mi` },
      };
      const { limits } = someCgroupOptions(configuration, { memoryBytes });
      assert.equal(limits.memoryBytes, Math.max(0, memoryBytes - (systemMi + kubeMi) * Mi));
      const { reserved, thresholds } = budgetOf(configuration);
      const host = { ...anyHost, memoryBytes };
      const { memory } = nodeAllocatable(host, { capacityBytes: 1 }, 1, reserved, thresholds);
      const left = Math.max(0, limits.memoryBytes - evictionMi * Mi);
      assert.equal(memory, left === 0 ? '0' : left % (1024 * Mi) === 0 ? `${left / Mi / 1024}Gi` : `${left / Mi}Mi`);
    }),
  );
});

test('without enforcement all pods together may use what there is', () => {
  const { limits } = someCgroupOptions({ systemReserved: { cpu: '1', memory: '1Gi', pid: '68' }, enforceNodeAllocatable: [] });
  assert.deepEqual(limits, { cpuMilli: 4000, memoryBytes: 8192 * Mi, pids: 32_768, hugepageSizes: [] });
  const enforced = someCgroupOptions({ systemReserved: { cpu: '1', memory: '1Gi', pid: '68' } }).limits;
  assert.deepEqual(enforced, { cpuMilli: 3000, memoryBytes: 7168 * Mi, pids: 32_700, hugepageSizes: [] });
});

test('a configuration that contradicts itself or the host is refused in upstream words', () => {
  const refused = (configuration: Readonly<Record<string, unknown>>, host = {}, cgroups = {}): string => {
    try {
      someCgroupOptions(configuration, host, cgroups);
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };
  assert.match(refused({ cgroupsPerQOS: false }), /is not supported unless cgroupsPerQOS/);
  assert.equal(refused({ cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] }), '');
  assert.match(refused({ enforceNodeAllocatable: ['none', 'pods'] }), /when "none" is specified/);
  assert.match(refused({ enforceNodeAllocatable: ['all'] }), /option "all" specified/);
  assert.match(refused({ enforceNodeAllocatable: ['kube-reserved'] }), /kubeReservedCgroup .* must be specified when "kube-reserved"/);
  assert.match(
    refused({ enforceNodeAllocatable: ['kube-reserved', 'kube-reserved-compressible'], kubeReservedCgroup: '/x' }),
    /cannot be specified together/,
  );
  assert.match(refused({ failCgroupV1: true }), /^kubelet is configured to not run on a host using cgroup v1\./);
  assert.match(refused({ failSwapOn: true }, { swapBytes: 1 }), /^running with swap on is not supported/);
  assert.match(refused({ memorySwap: { swapBehavior: 'LimitedSwap' } }), /only supported with cgroupv2$/);
  assert.equal(refused({ memorySwap: { swapBehavior: 'LimitedSwap' } }, {}, { version: 'v2', hasSwapController: true }), '');
  assert.match(refused({ singleProcessOOMKill: false }), /when using cgroup v1$/);
  assert.match(refused({ cpuCFSQuotaPeriod: '2s' }), /between 1ms and 1sec/);
});

test('a list of CPUs is read as the kernel writes it', () => {
  assert.deepEqual(cpusOf('0-2,7,1', 'x'), [0, 1, 2, 7]);
  assert.deepEqual(cpusOf('', 'x'), []);
});

const anyHost = {
  hostname: 'h',
  cpus: 4,
  memoryBytes: 0,
  swapBytes: 0,
  hugepages: [],
  architecture: 'amd64',
  kernelVersion: '6.1',
  osImage: 'Linux',
  machineId: 'm',
  systemUuid: 's',
  bootId: 'b',
  maxProcesses: 1,
  hasAppArmor: false,
  addresses: [],
  defaultRouteInterface: undefined,
};
