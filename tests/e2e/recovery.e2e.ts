import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { mainProcessOf, sandboxIdOf } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';

// The leak check at the end of the file is part of each test: no mount, cgroup or directory stays of a start that was cut off.
const cluster = await startCluster();
const { kubectl } = cluster;

async function kubeletPid(): Promise<number | undefined> {
  const text = await readFile(cluster.paths.processFile('kubelet'), 'utf8').catch(() => '{}');
  return (JSON.parse(text || '{}') as { pid?: number }).pid;
}

/** Kills it, and waits until the supervisor has another: after several deaths it takes its time. */
async function killKubelet(): Promise<void> {
  const pid = await kubeletPid();
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
  for (let now = await kubeletPid(); now === undefined || now === pid; now = await kubeletPid()) await sleep(20);
}

for (const delayMs of [0, 80, 160, 250]) {
  test(`the kubelet is killed ${delayMs} ms after a pod was made: the pod runs, in one sandbox, and nothing that ran was ended`, async () => {
    const name = `start-${delayMs}`;
    await apply(kubectl, sleeper(name));
    await sleep(delayMs);
    await killKubelet();
    await waitForPod(kubectl, name);
    const pod = await getPod(kubectl, name);
    // A container that was made but never started is replaced, and counts as upstream counts it; one that ran is not ended.
    const ended = pod.status?.containerStatuses?.[0]?.lastState?.terminated;
    assert.ok(ended === undefined || ended.reason === 'StartError', JSON.stringify(ended));
    await sandboxIdOf(cluster, pod); // throws unless exactly one runs
  });
}

test('the kubelet is killed while a pod is deleted: the pod is gone at last', async () => {
  outputOf(await kubectl('delete pod start-0 --wait=false'));
  await killKubelet();
  outputOf(await kubectl('wait pod/start-0 --for=delete --timeout=30s'));
});

test('up of a cluster whose kubelet has died again and again finds everything in order', async () => {
  await cluster.up();
});

test('containerd is killed: pods live on, and who ends meanwhile is started again in the same sandbox', async () => {
  await apply(kubectl, sleeper('survivor'), sleeper('faller'));
  await Promise.all(['survivor', 'faller'].map((name) => waitForPod(kubectl, name)));
  const [survivor, faller] = await Promise.all(['survivor', 'faller'].map((name) => getPod(kubectl, name)));
  assert.ok(survivor !== undefined && faller !== undefined);
  const [sandbox, main] = [await sandboxIdOf(cluster, faller), await mainProcessOf(cluster, faller)];
  const { pid } = JSON.parse(await readFile(cluster.paths.processFile('containerd'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  process.kill(main, 'SIGKILL');
  await waitForField(kubectl, 'faller', '{.status.containerStatuses[0].restartCount}', '1');
  await waitForPod(kubectl, 'faller');
  assert.equal(await sandboxIdOf(cluster, await getPod(kubectl, 'faller')), sandbox);
  const { status } = await getPod(kubectl, 'survivor');
  assert.equal(status?.containerStatuses?.[0]?.containerID, survivor.status?.containerStatuses?.[0]?.containerID);
  assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(outputOf(await kubectl('exec survivor -- echo alive')), 'alive\n');
});

test('a pod that is deleted while the kubelet is away is taken down when it is back', async () => {
  const { uid } = (await getPod(kubectl, 'survivor')).metadata;
  const pid = await kubeletPid();
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
  outputOf(await kubectl('delete pod survivor --grace-period=0 --force'));
  await waitUntilGone(`${cluster.paths.kubeletRoot}/pods/${uid}`);
});

async function waitUntilGone(path: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (existsSync(path)) {
    assert.ok(performance.now() < deadline, `${path} is still there`);
    await sleep(50);
  }
}
