import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod, PodSpec, Toleration } from '#api/types/core-v1.ts';
import type { AdmissionInput, AdmittingNode } from './admission-input.ts';
import { admitPod } from './admit-pod.ts';
import { checkAllowedSysctls } from './sysctls.ts';

const node: AdmittingNode = {
  name: 'node-1',
  labels: { zone: 'a', generation: '7' },
  allocatable: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '3', 'example.com/gpu': '1' },
  taints: [],
  pressures: [],
  hasSupplementalGroupsPolicy: false,
  hasAppArmor: false,
  kernelVersion: '6.1.0-9-amd64',
  isShuttingDown: false,
};

function input(spec: DeepPartial<PodSpec>, rest: Partial<Omit<AdmissionInput, 'node'>> & { node?: Partial<AdmittingNode> } = {}): AdmissionInput {
  return { pod: aPod({ spec }), otherPods: [], allowedSysctls: [], ...rest, node: { ...node, ...rest.node } };
}

function asking(requests: Readonly<Record<string, string>>): DeepPartial<PodSpec> {
  return { containers: [aContainer({ resources: { requests } })] };
}

/** `reason: message`, or '' when the pod is admitted. */
function answer(of: AdmissionInput): string {
  const admission = admitPod(of);
  return admission.admitted ? '' : `${admission.reason}: ${admission.message}`;
}

test('a pod that fits is admitted', () => {
  assert.deepEqual(admitPod(input(asking({ cpu: '2', memory: '1Gi' }))), { admitted: true });
});

test('a pod that asks for more than is left is refused with the numbers', () => {
  const other = aPod({ spec: asking({ cpu: '100m', memory: '24' }) });
  const refused = admitPod(input(asking({ cpu: '2' }), { otherPods: [other] }));
  assert.deepEqual(refused, {
    admitted: false,
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: 2000, used: 100, capacity: 2000",
    nodeMayBeStale: false,
    lacks: [],
  });
  assert.equal(
    answer(input(asking({ memory: '1Gi' }), { otherPods: [other] })),
    "OutOfmemory: Node didn't have enough resource: memory, requested: 1073741824, used: 24, capacity: 1073741824",
  );
});

test('pods are counted, and only counted when nothing is asked for', () => {
  const full = [aPod({ spec: asking({ cpu: '50' }) }), aPod()];
  assert.equal(answer(input({}, { otherPods: full })), '');
  assert.equal(
    answer(input({}, { otherPods: [...full, aPod()] })),
    "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  );
});

test('an extended resource counts when the node has it, a huge page always', () => {
  assert.equal(
    answer(input(asking({ 'example.com/gpu': '2' }))),
    "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1",
  );
  assert.equal(answer(input(asking({ 'example.com/unknown': '2' }))), '');
  assert.match(answer(input(asking({ 'hugepages-2Mi': '2Mi' }))), /^OutOfhugepages-2Mi: .* requested: 2097152, used: 0, capacity: 0$/);
});

test('selector and affinity are looked at together', () => {
  const affinity = (...nodeSelectorTerms: readonly object[]): DeepPartial<PodSpec> => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeSelectorTerms as never } } },
  });
  const wish = (key: string, operator: string, ...values: readonly string[]) => ({ matchExpressions: [{ key, operator, values }] });
  const table: readonly (readonly [DeepPartial<PodSpec>, boolean])[] = [
    [{ nodeSelector: { zone: 'a' } }, true],
    [{ nodeSelector: { zone: 'b' } }, false],
    [affinity(), false],
    [affinity({}), false],
    [affinity(wish('zone', 'In', 'b'), wish('zone', 'In', 'a', 'c')), true],
    [
      affinity({
        matchExpressions: [
          ...wish('zone', 'In', 'a').matchExpressions,
          ...wish('zone', 'Exists').matchExpressions,
          ...wish('none', 'Exists').matchExpressions,
        ],
      }),
      false,
    ],
    [affinity(wish('zone', 'NotIn', 'a')), false],
    [affinity(wish('none', 'NotIn', 'a')), true],
    [affinity(wish('none', 'DoesNotExist')), true],
    [affinity(wish('generation', 'Gt', '6')), true],
    [affinity(wish('generation', 'Lt', '7')), false],
    [affinity(wish('zone', 'Gt', '1')), false],
    [affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }), true],
    [affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }), false],
  ];
  for (const [spec, fits] of table) {
    const expected = fits ? '' : "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.equal(answer(input(spec)), expected, JSON.stringify(spec));
  }
});

test('only a refusal for labels alone may come from an old view of the node', () => {
  const stale = (spec: DeepPartial<PodSpec>) => {
    const admission = admitPod(input(spec));
    return admission.admitted ? undefined : [admission.reason, admission.nodeMayBeStale];
  };
  assert.deepEqual(stale({ nodeSelector: { zone: 'b' } }), ['NodeAffinity', true]);
  assert.deepEqual(stale({ nodeSelector: { zone: 'b' }, nodeName: 'node-2' }), ['NodeAffinity', false]);
  assert.deepEqual(stale({ nodeName: 'node-2' }), ['NodeName', false]);
});

test('a port of the node is given once', () => {
  const using = (hostPort: number, hostIP?: string, protocol?: string): Pod =>
    aPod({ spec: { containers: [aContainer({ ports: [{ containerPort: 1, hostPort, hostIP, protocol }] })] } });
  const refused = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  const table: readonly (readonly [Pod, Pod, string])[] = [
    [using(80), using(80), refused],
    [using(80), using(81), ''],
    [using(80, '10.0.0.1'), using(80, '10.0.0.2'), ''],
    [using(80, '10.0.0.1'), using(80), refused],
    [using(80, undefined, 'UDP'), using(80, undefined, 'TCP'), ''],
    [using(0), using(0), ''],
  ];
  for (const [pod, other, expected] of table) assert.equal(answer({ ...input({}), pod, otherPods: [other] }), expected);
});

test('taints that drive pods away must be tolerated, by all but static pods', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoExecute' };
  const refused = "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
  const table: readonly (readonly [readonly Toleration[], string])[] = [
    [[], refused],
    [[{ key: 'k', value: 'v' }], ''],
    [[{ key: 'k', operator: 'Equal', value: 'other' }], refused],
    [[{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }], refused],
    [[{ operator: 'Exists' }], ''],
    [[{ operator: 'Equal' }], refused],
  ];
  for (const [tolerations, expected] of table)
    assert.equal(answer(input({ tolerations }, { node: { taints: [taint] } })), expected, JSON.stringify(tolerations));
  assert.equal(answer(input({}, { node: { taints: [{ ...taint, effect: 'NoSchedule' }] } })), '');
  const fromFile = aPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
  assert.equal(answer({ ...input({}, { node: { taints: [taint] } }), pod: fromFile }), '');
});

test('a node in shortage takes what can do with it', () => {
  const refusedBy = (pod: Pod, ...pressures: readonly string[]) => answer({ ...input({}, { node: { pressures } }), pod });
  const burstable = aPod({ status: { qosClass: 'Burstable' } });
  const patient = aPod({ spec: { tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }] } });
  assert.equal(refusedBy(aPod(), 'MemoryPressure'), 'Evicted: The node had condition: [MemoryPressure]. ');
  assert.equal(refusedBy(burstable, 'MemoryPressure'), '');
  assert.equal(refusedBy(patient, 'MemoryPressure'), '');
  assert.equal(refusedBy(burstable, 'MemoryPressure', 'DiskPressure'), 'Evicted: The node had condition: [MemoryPressure DiskPressure]. ');
  assert.equal(refusedBy(aPod({ spec: { priority: 2_000_000_000 } }), 'DiskPressure'), '');
});

test('sysctls must be safe or allowed, and must not be those of the node', () => {
  const using = (name: string, rest: DeepPartial<PodSpec> = {}, allowedSysctls: readonly string[] = []) =>
    answer({ ...input({ securityContext: { sysctls: [{ name, value: '1' }] }, ...rest }), allowedSysctls });
  assert.equal(using('net.ipv4.tcp_syncookies'), '');
  assert.equal(using('net/ipv4/tcp_syncookies'), '');
  assert.equal(using('kernel.msgmax'), 'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted');
  assert.equal(using('kernel.msgmax', {}, ['kernel.msg*']), '');
  assert.equal(
    using('kernel.msgmax', { hostIPC: true }, ['kernel.msg*']),
    'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowed with host ipc enabled',
  );
  assert.equal(
    using('net.ipv4.tcp_syncookies', { hostNetwork: true }),
    'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled',
  );
});

test('what this node is not, and what it cannot do, is refused', () => {
  const labelled = { ...input({}), pod: aPod({ metadata: { labels: { 'kubernetes.io/os': 'windows' } } }) };
  assert.equal(answer(labelled), "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label");
  assert.equal(answer(input({ os: { name: 'windows' } })), "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS");
  const strict = { securityContext: { supplementalGroupsPolicy: 'Strict' } };
  assert.equal(answer(input(strict)), 'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node');
  assert.equal(answer(input(strict, { node: { hasSupplementalGroupsPolicy: true } })), '');
  assert.equal(answer(input({}, { node: { isShuttingDown: true } })), 'NodeShutdown: Pod was rejected as the node is shutting down.');
});

test('subtle 4: of a lack of CPU and a mismatch of labels the lack is told', () => {
  assert.match(answer(input({ ...asking({ cpu: '3' }), nodeSelector: { zone: 'b' } })), /^OutOfcpu: /);
});

test('subtle 6: only NoExecute taints count, and not for static pods', () => {
  const taints = (effect: string) => ({ node: { taints: [{ key: 'k', effect }] } });
  assert.equal(answer(input({}, taints('NoSchedule'))), '');
  assert.match(answer(input({}, taints('NoExecute'))), /^TaintToleration: /);
  const fromFile = aPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
  assert.equal(answer({ ...input({}, taints('NoExecute')), pod: fromFile }), '');
});

test('subtle 7: an extended resource that the node does not know is ignored', () => {
  assert.equal(answer(input(asking({ 'vendor.example/none': '7' }))), '');
});

test('subtle 61: MemoryPressure keeps out BestEffort pods that do not tolerate it, DiskPressure all but critical ones', () => {
  const under = (pressure: string, pod: Pod) => answer({ ...input({}, { node: { pressures: [pressure] } }), pod });
  const tolerant = aPod({ spec: { tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }] } });
  const burstable = aPod({ status: { qosClass: 'Burstable' } });
  const critical = aPod({ spec: { priority: 2_000_000_000 } });
  const disk = 'Evicted: The node had condition: [DiskPressure]. ';
  assert.equal(under('MemoryPressure', aPod()), 'Evicted: The node had condition: [MemoryPressure]. ');
  assert.deepEqual([under('MemoryPressure', tolerant), under('MemoryPressure', burstable)], ['', '']);
  assert.deepEqual([under('DiskPressure', tolerant), under('DiskPressure', burstable), under('DiskPressure', critical)], [disk, disk, '']);
});

test('what a pod asks for includes its overhead, its sidecars, the largest init container and what it says for itself', () => {
  const fits = (spec: DeepPartial<PodSpec>) => answer(input(spec)) === '';
  const app = aContainer({ resources: { requests: { cpu: '1' } } });
  const init = (cpu: string, restartPolicy?: string) => aContainer({ name: cpu, restartPolicy, resources: { requests: { cpu } } });
  assert.deepEqual(
    [
      fits({ containers: [app], overhead: { cpu: '1' } }),
      fits({ containers: [app], overhead: { cpu: '1001m' } }),
      fits({ containers: [app], initContainers: [init('2')] }),
      fits({ containers: [app], initContainers: [init('2001m')] }),
      fits({ containers: [app], initContainers: [init('1', 'Always')] }),
      fits({ containers: [app], initContainers: [init('1', 'Always'), init('1001m')] }),
      fits({ containers: [app], resources: { requests: { cpu: '3' } } }),
    ],
    [true, false, true, false, true, false, false],
  );
});

test('a critical pod is told what it lacks only if nothing else is in the way', () => {
  const critical = (spec: DeepPartial<PodSpec>) => admitPod(input({ ...asking({ cpu: '3' }), priority: 2_000_000_000, ...spec }));
  const lacking = critical({});
  assert.deepEqual(lacking.admitted === false && lacking.lacks, [{ resource: 'cpu', requested: 3000, used: 0, capacity: 2000 }]);
  const elsewhere = critical({ nodeSelector: { zone: 'b' } });
  assert.deepEqual(elsewhere.admitted === false && [elsewhere.reason, elsewhere.lacks], ['NodeAffinity', []]);
});

test('a pod that wants AppArmor is refused where the kernel has none, until it runs', () => {
  const profile = (type: string) => ({ securityContext: { appArmorProfile: { type } } });
  const refused = 'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host';
  assert.equal(answer(input(profile('RuntimeDefault'))), refused);
  assert.equal(answer(input({ containers: [aContainer(profile('Localhost'))] })), refused);
  assert.equal(answer(input(profile('Unconfined'))), '');
  assert.equal(answer(input(profile('RuntimeDefault'), { node: { hasAppArmor: true } })), '');
  const running = aPod({ spec: profile('RuntimeDefault'), status: { phase: 'Running' } });
  assert.equal(answer({ ...input({}), pod: running }), '');
});

test('a sysctl is safe from the kernel on that keeps it in a namespace', () => {
  const using = (kernelVersion: string) =>
    answer(input({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }, { node: { kernelVersion } }));
  assert.deepEqual([using('4.15.0'), using('5.2'), using('6.1.0-9-amd64')], ['', '', '']);
  assert.match(using('4.9.3'), /^SysctlForbidden: /);
});

test('only sysctls with a namespace can be allowed', () => {
  const fine = ['kernel.msg*', 'kernel.sem', 'kernel.shm_rmid_forced', 'net.*', 'net/core/somaxconn', 'fs.mqueue.*'];
  assert.deepEqual(checkAllowedSysctls(fine), fine);
  assert.throws(() => checkAllowedSysctls(['vm.swappiness']), { message: 'the sysctls "vm.swappiness" are not known to be namespaced' });
});

test('a pod that already runs is asked whether it may stay, not whether it may come', () => {
  const strict = { securityContext: { supplementalGroupsPolicy: 'Strict' }, ...asking({ cpu: '1' }) };
  const staying = (spec: DeepPartial<PodSpec>) =>
    answer(input(spec, { alreadyRuns: true, node: { pressures: ['DiskPressure'], isShuttingDown: true } }));
  assert.equal(staying(strict), '');
  assert.match(staying(asking({ cpu: '3' })), /^OutOfcpu: /);
});
