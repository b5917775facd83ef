import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { outputOf } from '../support/kubectl.ts';
import { startLogind } from '../support/logind.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

// What people and the host do to a node: it is drained, and it goes down.

const logind = await startLogind([60_000, 60_000]);
process.env['DBUS_SYSTEM_BUS_ADDRESS'] = logind.address; // for the kubelet, which inherits it
after(() => logind.stop());
const cluster = await startCluster({
  kubelet: {
    shutdownGracePeriodByPodPriority: [
      { priority: 0, shutdownGracePeriodSeconds: 20 },
      { priority: 1000, shutdownGracePeriodSeconds: 10 },
    ],
  },
});
const { kubectl } = cluster;
const metadataOf = (name: string, more: object) => ({ metadata: { name, ...more } });
const onTerm = (script: string) => ({ command: ['sh', '-c', `trap '${script}' TERM; sleep 100000 & wait`] });
const nodeName = async () => outputOf(await kubectl('get nodes -o jsonpath={.items[0].metadata.name}'));

test('drain refuses what nobody would bring back, waits for a disruption budget, and ends pods with the grace that it is given', async () => {
  const node = await nodeName();
  await apply(
    kubectl,
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'daemon' },
      spec: {
        selector: { matchLabels: { app: 'daemon' } },
        template: { metadata: { labels: { app: 'daemon' } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guard' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    },
  );
  const uid = outputOf(await kubectl('get daemonset daemon -o jsonpath={.metadata.uid}'));
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'daemon', uid, controller: true }];
  const slow = { terminationGracePeriodSeconds: 60, volumes: [{ name: 'v', emptyDir: {} }] };
  await apply(
    kubectl,
    { ...sleeper('daemon-1'), ...metadataOf('daemon-1', { labels: { app: 'daemon' }, ownerReferences }) },
    { ...sleeper('guarded'), ...metadataOf('guarded', { labels: { app: 'guarded' } }) },
    sleeper('slow', slow, onTerm('echo heard')),
  );
  await Promise.all(['daemon-1', 'guarded', 'slow'].map((name) => waitForPod(kubectl, name)));
  outputOf(await kubectl('wait pdb/guard --for=jsonpath={.status.currentHealthy}=1 --timeout=20s'));
  const refused = await kubectl(`drain ${node}`);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): default\/daemon-1/);
  assert.match(refused.stderr, /cannot delete Pods with local storage \(use --delete-emptydir-data to override\): default\/slow/);
  assert.match(refused.stderr, /that declare no controller \(use --force to override\): .*default\/guarded/);
  const startedAt = performance.now();
  const draining = kubectl(`drain ${node} --force --ignore-daemonsets --delete-emptydir-data --grace-period=2 --timeout=50s`);
  outputOf(await kubectl('wait pod/slow --for=delete --timeout=30s'));
  assert.ok(performance.now() - startedAt < 20_000, 'it got two seconds, not its sixty');
  assert.equal((await getPod(kubectl, 'guarded')).metadata.deletionTimestamp, undefined);
  outputOf(await kubectl('delete pdb guard'));
  const drained = await draining;
  assert.match(
    drained.stderr,
    /error when evicting pods\/"guarded" .*\(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
  );
  assert.match(outputOf(drained), /pod\/guarded evicted\n[\s\S]*drained/);
  assert.equal(outputOf(await kubectl('get pods -o name')), 'pod/daemon-1\n');
});

test('a node that was drained takes pods again when it is uncordoned', async () => {
  const node = await nodeName();
  await apply(kubectl, sleeper('later'));
  await waitForPod(kubectl, 'later', 'PodScheduled=false');
  assert.match(outputOf(await kubectl(`get node ${node} --no-headers`)), / Ready,SchedulingDisabled /);
  outputOf(await kubectl(`uncordon ${node}`));
  await waitForPod(kubectl, 'later');
  outputOf(await kubectl('delete daemonset/daemon pod/daemon-1 pod/later'));
});

test('the host goes down: pods end in the order of their priorities, the node says so and lets nobody in', async () => {
  const node = await nodeName();
  await logind.untilLocks(1);
  await apply(kubectl, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'important' }, value: 1000 });
  await apply(
    kubectl,
    sleeper('ordinary', { terminationGracePeriodSeconds: 15 }, onTerm('sleep 3; exit 3')),
    sleeper('important', { terminationGracePeriodSeconds: 15, priorityClassName: 'important' }, onTerm('exit 0')),
  );
  await Promise.all([waitForPod(kubectl, 'ordinary'), waitForPod(kubectl, 'important')]);
  await logind.announce(true);
  outputOf(await kubectl(`wait node/${node} --for=condition=Ready=false --timeout=20s`));
  const ready = JSON.parse(outputOf(await kubectl(`get node ${node} -o json`))).status.conditions.find(
    ({ type }: { type: string }) => type === 'Ready',
  );
  assert.deepEqual([ready.reason, ready.message], ['KubeletNotReady', 'node is shutting down']);
  await apply(kubectl, sleeper('late', { nodeName: node, tolerations: [{ operator: 'Exists' }] }));
  await waitForField(kubectl, 'late', '{.status.phase}', 'Failed');
  const late = (await getPod(kubectl, 'late')).status;
  assert.deepEqual([late?.reason, late?.message], ['NodeShutdown', 'Pod was rejected: Pod was rejected as the node is shutting down.']);
  await waitForField(kubectl, 'important', '{.status.phase}', 'Succeeded');
  await logind.untilLocks(0);
  const message = 'Pod was terminated in response to imminent node shutdown.';
  const endOf = async (name: string) => {
    const { phase, reason, message: told, conditions, containerStatuses } = (await getPod(kubectl, name)).status ?? {};
    const target = conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([reason, told], ['Terminated', message]);
    assert.deepEqual([target?.status, target?.reason, target?.message], ['True', 'TerminationByKubelet', message]);
    const { exitCode, finishedAt } = containerStatuses?.[0]?.state?.terminated ?? {};
    return { phase, exitCode, finishedAt: Date.parse(finishedAt ?? '') };
  };
  const [ordinary, important] = [await endOf('ordinary'), await endOf('important')];
  assert.deepEqual([ordinary.phase, ordinary.exitCode, important.phase, important.exitCode], ['Failed', 3, 'Succeeded', 0]);
  assert.ok(important.finishedAt >= ordinary.finishedAt, 'important pods end when the others have ended');
  const { startTime, endTime } = JSON.parse(await readFile(`${cluster.paths.kubeletRoot}/graceful_node_shutdown_state`, 'utf8'));
  assert.ok(Date.parse(endTime) - Date.parse(startTime) >= 3000);
});

test('the shutdown is called off: shutdowns are held up again, and the node takes pods', async () => {
  await logind.announce(false);
  await logind.untilLocks(1);
  outputOf(await kubectl('wait node --all --for=condition=Ready --timeout=20s'));
  await apply(kubectl, sleeper('afterwards'));
  await waitForPod(kubectl, 'afterwards');
  assert.equal((await getPod(kubectl, 'ordinary')).status?.phase, 'Failed');
  const events = outputOf(await kubectl('get events -A --no-headers -o custom-columns=K:.involvedObject.kind,R:.reason,M:.message'));
  assert.match(events, /Node +Shutdown +Shutdown manager detected shutdown event\n/);
  assert.match(events, /Node +Shutdown +Shutdown manager detected shutdown cancellation\n/);
  outputOf(await kubectl('delete pod --all'));
});
