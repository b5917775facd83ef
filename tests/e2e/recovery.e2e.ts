import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForPod } from '../support/pods.ts';
import { sandboxIdOf } from '../support/runtime.ts';
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
  test(`the kubelet is killed ${delayMs} ms after a pod was made: the pod runs, in one sandbox, with no restart`, async () => {
    const name = `start-${delayMs}`;
    await apply(kubectl, sleeper(name));
    await sleep(delayMs);
    await killKubelet();
    await waitForPod(kubectl, name);
    const pod = await getPod(kubectl, name);
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
    await sandboxIdOf(cluster, pod); // throws unless exactly one runs
  });
}

test('the kubelet is killed while a pod is deleted: the pod is gone at last', async () => {
  outputOf(await kubectl('delete pod start-0 --wait=false'));
  await killKubelet();
  outputOf(await kubectl('wait pod/start-0 --for=delete --timeout=30s'));
});
