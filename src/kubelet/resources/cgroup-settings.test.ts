import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourcesOf } from '#api/pod/requests.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { podCgroupPath, uidOfCgroupName } from './cgroup-names.ts';
import { type PodCgroupOptions, podCgroupSettings, qosTreeSettings } from './cgroup-settings.ts';
import { cpuQuotaUs, cpuShares } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';

const options: PodCgroupOptions = { cpuPeriodUs: 100_000, enforceCpuLimits: true, podPidsLimit: -1, hugepageSizes: [] };

function pod(qosClass: string, requests: Readonly<Record<string, string>>, limits: Readonly<Record<string, string>>): Pod {
  return aPod({ metadata: { uid: 'u1' }, spec: { containers: [aContainer({ resources: { requests, limits } })] }, status: { qosClass } });
}

test('shares and quotas have the bounds of the kernel', () => {
  assert.deepEqual([0, 1, 2, 100, 1000, 999_999_999].map(cpuShares), [2, 2, 2, 102, 1024, 262_144]);
  assert.deepEqual(
    [0, 1, 10, 11, 1500].map((milli) => cpuQuotaUs(milli, 100_000)),
    [0, 1000, 1000, 1100, 150_000],
  );
  assert.throws(() => cpuShares(0.5), { code: 'INVALID_INPUT' });
});

test('a pod lives below its tier, a Guaranteed one directly below the root', () => {
  const paths = ['Guaranteed', 'Burstable', 'BestEffort'].map((qos) => podCgroupPath('/kubernode/a', pod(qos, {}, {})));
  assert.deepEqual(paths, ['/kubernode/a/podu1', '/kubernode/a/burstable/podu1', '/kubernode/a/besteffort/podu1']);
  assert.deepEqual(['podu1', 'burstable', 'pod'].map(uidOfCgroupName), ['u1', undefined, undefined]);
});

test('settings of a pod by class', () => {
  const half = { cpu: '500m', memory: '1Ki' };
  const table = [
    ['BestEffort', pod('BestEffort', {}, {}), { cpuShares: 2, hugepageLimits: {} }],
    [
      'Guaranteed',
      pod('Guaranteed', half, half),
      { cpuShares: 512, cpuQuotaUs: 50_000, cpuPeriodUs: 100_000, memoryLimitBytes: 1024, hugepageLimits: {} },
    ],
    ['Burstable without limits', pod('Burstable', half, {}), { cpuShares: 512, hugepageLimits: {} }],
    ['Burstable with a memory limit', pod('Burstable', half, { memory: '2Ki' }), { cpuShares: 512, memoryLimitBytes: 2048, hugepageLimits: {} }],
  ] as const;
  for (const [what, of, expected] of table) assert.deepEqual(podCgroupSettings(of, options), expected, what);
});

test('options change what is enforced', () => {
  const of = pod('Guaranteed', { cpu: '1', memory: '1', 'hugepages-2Mi': '4Mi' }, { cpu: '1', memory: '1', 'hugepages-2Mi': '4Mi' });
  const settings = podCgroupSettings(of, { cpuPeriodUs: 10_000, enforceCpuLimits: false, podPidsLimit: 99, hugepageSizes: ['2MB', '1GB'] });
  assert.deepEqual(settings, { cpuShares: 1024, cpuQuotaUs: -1, memoryLimitBytes: 1, pidsLimit: 99, hugepageLimits: { '2MB': 4_194_304, '1GB': 0 } });
});

test('huge pages are named as the kernel does', () => {
  const sizes = ['64KB', '2MB', '1GB'];
  assert.deepEqual(hugepageLimits(resourcesOf({ 'hugepages-64Ki': '1', 'hugepages-1Gi': '3', cpu: '7' }), sizes), { '64KB': 1, '2MB': 0, '1GB': 3 });
});

test('the Burstable tier weighs what its pods ask for, the others do not', () => {
  const pods = [
    pod('Burstable', { cpu: '1' }, {}),
    pod('Burstable', { cpu: '500m' }, {}),
    pod('Guaranteed', { cpu: '8' }, { cpu: '8' }),
    pod('BestEffort', {}, {}),
  ];
  assert.deepEqual(qosTreeSettings(pods, { cpuMilli: 2000, memoryBytes: 1 << 30, pids: -1, hugepageSizes: ['2MB'] }), {
    root: { cpuShares: 2048, memoryLimitBytes: 1 << 30, pidsLimit: -1, hugepageLimits: { '2MB': 2 ** 62 } },
    burstable: { cpuShares: 1536, hugepageLimits: { '2MB': 2 ** 62 } },
    bestEffort: { cpuShares: 2, hugepageLimits: { '2MB': 2 ** 62 } },
  });
});
