import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const enough = cpus().length >= 2;
const kubelet = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0',
  cpuManagerReconcilePeriod: '1s',
  memoryManagerPolicy: 'Static',
  reservedMemory: [{ numaNode: 0, limits: { memory: '100Mi' } }],
  evictionHard: { 'memory.available': '100Mi' },
  topologyManagerPolicy: 'restricted',
  topologyManagerScope: 'pod',
};
const cluster = await startCluster({ kubelet });
const { kubectl } = cluster;
const last = String(cpus().length - 1);
const all = `0-${last}`;

const alone = (name: string, cpu = '1') => sleeper(name, {}, { resources: { limits: { cpu, memory: '32Mi' } } });
const allowed = async (name: string) =>
  /^Cpus_allowed_list:\s*(\S+)$/m.exec(outputOf(await kubectl(`exec ${name} -- cat /proc/self/status`)))?.[1] ?? '';
/** Whatever has its CPUs changed is told by the kernel alone: looks until the chore has come round. */
const becomes = (name: string, list: string) =>
  kubectl([
    'exec',
    name,
    '--',
    'timeout',
    '20',
    'sh',
    '-c',
    `until grep -q "^Cpus_allowed_list:[[:space:]]*${list}$" /proc/1/status; do sleep 0.1; done`,
  ]);

test('a Guaranteed container with whole CPUs has them alone, what runs beside it moves away, and comes back', { skip: !enough }, async () => {
  await apply(kubectl, sleeper('beside'));
  await waitForPod(kubectl, 'beside');
  assert.equal(await allowed('beside'), all);
  await apply(kubectl, alone('alone'));
  await waitForPod(kubectl, 'alone');
  const own = await allowed('alone');
  assert.match(own, /^[1-9]\d*$/);
  const memory = JSON.parse(await readFile(`${cluster.paths.kubeletRoot}/memory_manager_state`, 'utf8'));
  const { uid } = (await getPod(kubectl, 'alone')).metadata;
  assert.deepEqual(memory.entries[uid], { main: [{ numaAffinity: [0], type: 'memory', size: 32 * 2 ** 20 }] });
  assert.match(outputOf(await kubectl('exec alone -- cat /proc/self/status')), /^Mems_allowed_list:\s*0$/m);
  const state = JSON.parse(await readFile(`${cluster.paths.kubeletRoot}/cpu_manager_state`, 'utf8')) as { readonly defaultCpuSet: string };
  outputOf(await becomes('beside', state.defaultCpuSet));
  assert.notEqual(state.defaultCpuSet, all);
  outputOf(await kubectl('delete pod alone'));
  outputOf(await becomes('beside', all));
});

test('more CPUs than are left are refused, and a kubelet that comes back keeps who has what', { skip: !enough }, async () => {
  await apply(kubectl, alone('kept'));
  await waitForPod(kubectl, 'kept');
  const own = await allowed('kept');
  const { pid } = JSON.parse(await readFile(cluster.paths.processFile('kubelet'), 'utf8')) as { readonly pid: number };
  process.kill(pid, 'SIGKILL');
  await cluster.up();
  assert.equal(await allowed('kept'), own);
  await apply(
    kubectl,
    sleeper(
      'greedy',
      { nodeName: (await getPod(kubectl, 'kept')).spec?.nodeName },
      { resources: { limits: { cpu: String(cpus().length), memory: '32Mi' } } },
    ),
  );
  await waitForField(kubectl, 'greedy', '{.status.phase}', 'Failed');
  const { reason, message } = (await getPod(kubectl, 'greedy')).status ?? {};
  // Asked before the node's room, as upstream does.
  assert.deepEqual([reason, message], ['TopologyAffinityError', 'Pod was rejected: Resources cannot be allocated with Topology locality']);
});
