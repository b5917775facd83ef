import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourcesOf } from '#api/pod/requests.ts';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { sandboxResources } from '../runtime/sandbox-resources.ts';
import { cgroupNames, systemdPath } from './cgroup-names.ts';
import { type PodCgroupOptions, podCgroupSettings, qosTreeSettings, reservedCgroupSettings } from './cgroup-settings.ts';
import { containerResources } from './container-resources.ts';
import { cpuQuotaUs, cpuShares } from './cpu.ts';
import { hugepageLimits } from './hugepages.ts';
import { someCgroupOptions } from './testing/cgroup-options.ts';

const options: PodCgroupOptions = { cpuPeriodUs: 100_000, enforceCpuLimits: true, podPidsLimit: -1, hugepageSizes: [], protectMemory: false };

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
  const names = cgroupNames('/kubernode/a', 'cgroupfs');
  const paths = ['Guaranteed', 'Burstable', 'BestEffort'].map((qos) => names.pod(pod(qos, {}, {})));
  assert.deepEqual(paths, ['/kubernode/a/podu1', '/kubernode/a/burstable/podu1', '/kubernode/a/besteffort/podu1']);
  assert.deepEqual(['podu1', 'burstable', 'pod'].map(names.uidOf), ['u1', undefined, undefined]);
});

test('systemd has a slice in a slice, and a dash inside a name is an underscore', () => {
  const names = cgroupNames('/kubepods', 'systemd');
  const uid = '01234567-89ab-cdef-0123-456789abcdef';
  const of = (qosClass: string) => names.pod(aPod({ metadata: { uid }, status: { qosClass } }));
  assert.deepEqual([names.root, names.tier('Burstable')], ['/kubepods.slice', '/kubepods.slice/kubepods-burstable.slice']);
  assert.equal(of('Guaranteed'), '/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice');
  const bestEffort = of('BestEffort');
  assert.equal(bestEffort, '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod01234567_89ab_cdef_0123_456789abcdef.slice');
  assert.equal(names.uidOf(bestEffort.split('/').at(-1) ?? ''), uid);
  assert.equal(names.uidOf('kubepods-burstable.slice'), undefined);
  assert.equal(systemdPath(['kubernode', 'my-test']), '/kubernode.slice/kubernode-my_test.slice');
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
  const settings = podCgroupSettings(of, {
    ...options,
    cpuPeriodUs: 10_000,
    enforceCpuLimits: false,
    podPidsLimit: 99,
    hugepageSizes: ['2MB', '1GB'],
  });
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

test('memory that was asked for is protected where that is wanted, in the pod and in the tiers', () => {
  const wishes = { cpu: '1', memory: '1Mi' };
  const [guaranteed, burstable] = [pod('Guaranteed', wishes, wishes), pod('Burstable', wishes, {})];
  const protecting = { ...options, protectMemory: true };
  assert.deepEqual(podCgroupSettings(guaranteed, protecting).unified, { 'memory.min': '1048576' });
  assert.deepEqual(podCgroupSettings(burstable, protecting).unified, { 'memory.low': '1048576' });
  assert.equal(podCgroupSettings(pod('BestEffort', {}, {}), protecting).unified, undefined);
  const tree = qosTreeSettings([guaranteed, burstable], { cpuMilli: 1, memoryBytes: 1, pids: 1, hugepageSizes: [] }, true);
  assert.deepEqual([tree.root.unified, tree.burstable.unified], [{ 'memory.min': '2097152' }, { 'memory.low': '1048576' }]);
});

test('subtle 10: a CPU request of 0 weighs 2, a CPU limit of 1m is a quota of 10m', () => {
  const settings = podCgroupSettings(pod('Burstable', { cpu: '0', memory: '1' }, { cpu: '1m' }), options);
  assert.deepEqual([settings.cpuShares, settings.cpuQuotaUs], [2, 1000]);
});

test('subtle 11: one container without a memory limit, and the pod has none', () => {
  const limited = aContainer({ name: 'a', resources: { requests: { memory: '1Mi' }, limits: { memory: '2Mi' } } });
  const spec = (...containers: readonly ReturnType<typeof aContainer>[]) => aPod({ spec: { containers }, status: { qosClass: 'Burstable' } });
  assert.equal(podCgroupSettings(spec(limited), options).memoryLimitBytes, 2 << 20);
  assert.equal(podCgroupSettings(spec(limited, aContainer({ name: 'b' })), options).memoryLimitBytes, undefined);
});

test('whoever has CPUs alone has no quota, nor have its pod and sandbox', () => {
  const whole = { cpu: '2', memory: '1Gi' };
  const quotas = (of: Pod, hasStaticCpus: boolean) => {
    const facts = { ...someCgroupOptions({}).container, hasStaticCpus };
    const [container] = of.spec?.containers ?? [];
    assert.ok(container !== undefined);
    return [
      podCgroupSettings(of, { ...options, hasStaticCpus }).cpuQuotaUs,
      containerResources(of, container, facts).cpuQuota,
      sandboxResources(of, facts).resources.cpuQuota,
    ];
  };
  assert.deepEqual(quotas(pod('Guaranteed', whole, whole), true), [-1, -1, -1]);
  assert.deepEqual(quotas(pod('Guaranteed', whole, whole), false), [200_000, 200_000, 200_000]);
  const part = { cpu: '1500m', memory: '1Gi' };
  assert.deepEqual(quotas(pod('Guaranteed', part, part), true), [150_000, 150_000, 150_000]);
  assert.deepEqual(quotas(pod('Burstable', { cpu: '1', memory: '1Gi' }, whole), true), [200_000, 200_000, 200_000]);
});

test('daemons get the share of CPU, or all that is reserved for them', () => {
  const reserved = { cpuMilli: 500, memoryBytes: 1 << 20, ephemeralStorageBytes: 0, pids: 7 };
  assert.deepEqual(reservedCgroupSettings(reserved, false, ['2MB']), {
    cpuShares: 512,
    memoryLimitBytes: 1 << 20,
    pidsLimit: 7,
    hugepageLimits: { '2MB': 0 },
  });
  assert.deepEqual(reservedCgroupSettings(reserved, true, ['2MB']), { cpuShares: 512 });
});
