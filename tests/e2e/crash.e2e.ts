import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Pod } from '#api/types/core-v1.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { mainProcessOf, pauseProcessOf, sandboxIdOf } from '../support/runtime.ts';
import { startCluster } from '../support/start-cluster.ts';

// The back-off between restarts starts at upstream's 10 s: five crashes would take minutes.
const cluster = await startCluster({ upFlags: ['--timing', 'crashBackoffBaseMs=100'] });
const { kubectl } = cluster;

const identityOf = (pod: Pod) => ({ ip: pod.status?.podIP, uid: pod.metadata.uid });

test('subtle 14: a container that is killed five times keeps its sandbox, its address and its volumes', async () => {
  const volumes = [{ name: 'scratch', emptyDir: {} }];
  await apply(kubectl, sleeper('phoenix', { volumes }, { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] }));
  await waitForPod(kubectl, 'phoenix');
  outputOf(await kubectl(['exec', 'phoenix', '--', 'sh', '-c', 'echo kept > /scratch/file']));
  const before = await getPod(kubectl, 'phoenix');
  const sandbox = await sandboxIdOf(cluster, before);
  for (let restart = 1; restart <= 5; restart++) {
    process.kill(await mainProcessOf(cluster, await getPod(kubectl, 'phoenix')), 'SIGKILL');
    await waitForField(kubectl, 'phoenix', '{.status.containerStatuses[0].restartCount}', String(restart));
    await waitForField(kubectl, 'phoenix', '{.status.containerStatuses[0].ready}', 'true');
    const after = await getPod(kubectl, 'phoenix');
    assert.deepEqual(identityOf(after), identityOf(before));
    assert.equal(await sandboxIdOf(cluster, after), sandbox);
    assert.equal(after.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    assert.equal(outputOf(await kubectl('exec phoenix -- cat /scratch/file')), 'kept\n');
  }
});

test('when the pause process dies the pod gets a new sandbox, and its containers are made again', async () => {
  await apply(kubectl, sleeper('uprooted'));
  await waitForPod(kubectl, 'uprooted');
  const before = await getPod(kubectl, 'uprooted');
  const sandbox = await sandboxIdOf(cluster, before);
  process.kill(await pauseProcessOf(cluster, sandbox), 'SIGKILL');
  await waitForField(kubectl, 'uprooted', '{.status.containerStatuses[0].restartCount}', '1');
  await waitForPod(kubectl, 'uprooted');
  const after = await getPod(kubectl, 'uprooted');
  assert.notEqual(await sandboxIdOf(cluster, after), sandbox);
  assert.equal(after.metadata.uid, before.metadata.uid);
  const events = outputOf(
    await kubectl('get events --field-selector involvedObject.name=uprooted,reason=SandboxChanged -o jsonpath={.items[*].message}'),
  );
  assert.equal(events, 'Pod sandbox changed, it will be killed and re-created.');
});

test('subtle 28: a container that fails again and again is in CrashLoopBackOff while the phase is Running, and why says what to try', async () => {
  await apply(kubectl, sleeper('broken', {}, { command: ['sh', '-c', 'echo bye; exit 3'] }));
  // By then the back-off is seconds long: it does not end between the two looks.
  await waitForField(kubectl, 'broken', '{.status.containerStatuses[0].restartCount}', '6');
  await waitForField(kubectl, 'broken', '{.status.containerStatuses[0].state.waiting.reason}', 'CrashLoopBackOff');
  const { status } = await getPod(kubectl, 'broken');
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([status?.phase, ready?.status, ready?.message], ['Running', 'False', 'containers with unready status: [main]']);
  assert.equal(status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 3);
  const why = await cluster.kubernode('why', 'broken');
  assert.match(why.stdout, /container main waits: CrashLoopBackOff: back-off .* restarting failed container=main pod=broken_default\(/);
  assert.match(why.stdout, /it ended last with exit code 3 \(Error\)/);
  assert.equal(outputOf(await kubectl('logs broken --previous')), 'bye\n');
});

test('the kubelet and the control plane are killed and come back, and no pod notices', async () => {
  await apply(kubectl, sleeper('bystander'));
  await waitForPod(kubectl, 'bystander');
  const before = await getPod(kubectl, 'bystander');
  for (const part of ['kubelet', 'control-plane']) {
    const { pid } = JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await cluster.up();
    const after = await getPod(kubectl, 'bystander');
    assert.equal(
      after.status?.containerStatuses?.[0]?.containerID,
      before.status?.containerStatuses?.[0]?.containerID,
      `after the ${part} was killed`,
    );
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.deepEqual(identityOf(after), identityOf(before));
    await apply(kubectl, sleeper(`after-${part}`));
    await waitForPod(kubectl, `after-${part}`);
  }
});
