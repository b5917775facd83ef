import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { ContainerState, Container as RuntimeContainer } from '#wire/generated/cri.ts';
import { machine } from '../testing/machine.ts';
import type { CpuState } from './cpu-state.ts';
import { CpuKeeper } from './keep-cpus.ts';
import { StaticCpus, type StaticCpusOptions } from './static-cpus.ts';

const { signal } = new AbortController();
const container = (name: string, cpu: string, more: Partial<Container> = {}): Container => {
  const amounts = { cpu, memory: '64Mi' };
  return { name, image: 'a', resources: { requests: amounts, limits: amounts }, ...more };
};
const podOf = (name: string, containers: readonly Container[], initContainers: readonly Container[] = []): Pod =>
  aPod({ metadata: { name, uid: name }, spec: { containers, initContainers }, status: { qosClass: 'Guaranteed' } });

/** 8 CPUs of which CPU 0 is reserved. */
function aPolicy(options: Partial<StaticCpusOptions> = {}) {
  const saved: CpuState[] = [];
  const save = async (state: CpuState) => void saved.push(state);
  const policy = new StaticCpus({
    topology: machine(2, 2, 2),
    reserved: [0],
    fullPhysicalCpusOnly: false,
    strictReservation: false,
    distributes: false,
    state: undefined,
    save,
    ...options,
  });
  const allocate = async (pod: Pod, hint?: { readonly nodes: number; readonly preferred: boolean }) => {
    for (const one of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const refusal = await policy.allocate(pod, one, hint, signal);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
  return { policy, allocate, saved };
}

test('whole CPUs of a Guaranteed pod are its own, all others share the rest', async () => {
  const { policy, allocate, saved } = aPolicy();
  assert.equal(await allocate(podOf('own', [container('main', '2')])), undefined);
  assert.equal(await allocate(podOf('part', [container('main', '1500m')])), undefined);
  const burstable = aPod({
    metadata: { name: 'burstable', uid: 'burstable' },
    spec: { containers: [{ name: 'main', image: 'a', resources: { requests: { cpu: '2' } } }] },
  });
  assert.equal(await allocate(burstable), undefined);
  assert.deepEqual(policy.cpusOf('own', 'main'), [1, 5]);
  assert.deepEqual(policy.cpusOf('part', 'main'), [0, 2, 3, 4, 6, 7]);
  assert.deepEqual(saved.at(-1), { policyName: 'static', defaultCpuSet: '0,2-4,6-7', entries: { own: { main: '1,5' } } });
  policy.release('own');
  assert.deepEqual(policy.state.defaultCpuSet, '0-7');
});

test('what is reserved is shared, but given to nobody alone; with strict reservation not even shared', async () => {
  const { allocate } = aPolicy();
  assert.deepEqual(await allocate(podOf('all', [container('main', '8')])), {
    reason: 'UnexpectedAdmissionError',
    message: 'Allocate failed due to not enough cpus available to satisfy request: requested=8, available=7, which is unexpected',
  });
  assert.equal(aPolicy({ strictReservation: true }).policy.state.defaultCpuSet, '1-7');
});

test('app containers take over the CPUs of ordinary init containers, sidecars keep theirs', async () => {
  const { policy, allocate } = aPolicy();
  const pod = podOf('pod', [container('main', '4')], [container('first', '4'), container('beside', '2', { restartPolicy: 'Always' })]);
  assert.equal(await allocate(pod), undefined);
  assert.deepEqual(
    policy.cpusOf('pod', 'main').filter((cpu) => policy.cpusOf('pod', 'beside').includes(cpu)),
    [],
  );
  assert.equal(policy.cpusOf('pod', 'main').filter((cpu) => policy.cpusOf('pod', 'first').includes(cpu)).length > 0, true);
});

test('after a restart every container keeps its CPUs', async () => {
  const before = aPolicy();
  const pod = podOf('own', [container('main', '2')]);
  await before.allocate(pod);
  const after = aPolicy({ state: before.saved.at(-1) });
  assert.equal(await after.allocate(pod), undefined);
  assert.deepEqual(after.policy.cpusOf('own', 'main'), [1, 5]);
  assert.deepEqual(after.saved, []);
});

test('full cores only: a part of a core is refused, and so is what would need one', async () => {
  const { allocate } = aPolicy({ fullPhysicalCpusOnly: true });
  assert.deepEqual(await allocate(podOf('odd', [container('main', '3')])), {
    reason: 'SMTAlignmentError',
    message: 'SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
  });
  assert.deepEqual(await allocate(podOf('big', [container('main', '8')])), {
    reason: 'SMTAlignmentError',
    message: 'SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 6, requested CPUs = 8, CPUs per core = 2',
  });
});

test('hints name the memory nodes with room, the fewest are preferred, and the hint is followed', async () => {
  const { policy, allocate } = aPolicy();
  const pod = podOf('own', [container('main', '4')]);
  assert.deepEqual(policy.hints(pod, container('main', '4')).get('cpu'), [
    { nodes: 2, preferred: true },
    { nodes: 3, preferred: false },
  ]);
  await allocate(podOf('near', [container('main', '2')]), { nodes: 2, preferred: true });
  assert.deepEqual(policy.cpusOf('near', 'main'), [2, 6]);
});

test('running containers are told when what they share changes, once, and who is gone holds nothing', async () => {
  const { policy, allocate } = aPolicy();
  const told: string[] = [];
  const running = [
    ['c1', 'own'],
    ['c2', 'other'],
  ].map(([id = '', uid = '']) =>
    RuntimeContainer.fromPartial({
      id,
      state: ContainerState.CONTAINER_RUNNING,
      labels: { 'io.kubernetes.pod.uid': uid, 'io.kubernetes.container.name': 'main' },
    }),
  );
  const alive = new Set(['own', 'other']);
  const keeper = new CpuKeeper({
    cpus: policy,
    runtime: { listContainers: async () => running, updateContainerResources: async (id, { cpusetCpus }) => void told.push(`${id} ${cpusetCpus}`) },
    holds: (uid) => alive.has(uid),
    save: async () => undefined,
    logger: silentLogger,
  });
  await allocate(podOf('own', [container('main', '2')]));
  await keeper.reconcile(signal);
  await keeper.reconcile(signal);
  assert.deepEqual(told, ['c1 1,5', 'c2 0,2-4,6-7']);
  alive.delete('own');
  await keeper.reconcile(signal);
  assert.deepEqual(told.slice(2), ['c1 0-7', 'c2 0-7']);
});
