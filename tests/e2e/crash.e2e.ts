import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
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

// Upstream's conformance tests of containers that end, told again under their names.

const containerOf = (name: string, script: string, more: object = {}) => ({
  name,
  image: busybox,
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', script],
  ...more,
});

test('InitContainer should invoke init containers on a RestartAlways pod, and on a RestartNever pod', async () => {
  const initContainers = [containerOf('init1', 'true'), containerOf('init2', 'true')];
  await apply(
    kubectl,
    sleeper('init-always', { initContainers }),
    sleeper('init-never', { initContainers, restartPolicy: 'Never' }, { command: ['true'] }),
  );
  await waitForPod(kubectl, 'init-always');
  await waitForField(kubectl, 'init-never', '{.status.phase}', 'Succeeded');
  for (const [name, reason] of [
    ['init-always', undefined],
    ['init-never', 'PodCompleted'],
  ] as const) {
    const { status } = await getPod(kubectl, name);
    const initialized = status?.conditions?.find(({ type }) => type === 'Initialized');
    assert.deepEqual([initialized?.status, initialized?.reason], ['True', reason]);
    assert.deepEqual(
      status?.initContainerStatuses?.map((one) => [one.name, one.ready, one.state?.terminated?.exitCode, one.restartCount]),
      [
        ['init1', true, 0, 0],
        ['init2', true, 0, 0],
      ],
    );
  }
});

test('InitContainer should not start app containers if init containers fail on a RestartAlways pod; on a RestartNever pod it fails', async () => {
  const initContainers = [containerOf('init1', 'false'), containerOf('init2', 'true')];
  await apply(kubectl, sleeper('fails-always', { initContainers }), sleeper('fails-never', { initContainers, restartPolicy: 'Never' }));
  await waitForField(kubectl, 'fails-always', '{.status.initContainerStatuses[0].restartCount}', '3');
  await waitForField(kubectl, 'fails-never', '{.status.phase}', 'Failed');
  const [always, never] = [await getPod(kubectl, 'fails-always'), await getPod(kubectl, 'fails-never')];
  assert.equal(always.status?.phase, 'Pending');
  assert.ok(always.status?.initContainerStatuses?.[0]?.lastState?.terminated !== undefined);
  for (const { status } of [always, never]) {
    const initialized = status?.conditions?.find(({ type }) => type === 'Initialized');
    const message = 'containers with incomplete status: [init1 init2]';
    assert.deepEqual([initialized?.status, initialized?.reason, initialized?.message], ['False', 'ContainersNotInitialized', message]);
    assert.deepEqual(status?.initContainerStatuses?.[1]?.state, { waiting: { reason: 'PodInitializing' } });
    assert.deepEqual(status?.containerStatuses?.[0]?.state, { waiting: { reason: 'PodInitializing' } });
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
  }
  assert.equal(never.status?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 1);
  outputOf(await kubectl('delete pod fails-always fails-never init-always init-never --wait=false'));
});

test('Probing container should have monotonically increasing restart count', async () => {
  const livenessProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 };
  const counts: number[] = [];
  const options = { namespace: 'default', fieldSelector: 'metadata.name=monotonic' };
  const watching = (async () => {
    for await (const one of cluster.client.watch(podKind, options, AbortSignal.timeout(50_000))) {
      if (one.type !== 'BOOKMARK') counts.push(one.object.status?.containerStatuses?.[0]?.restartCount ?? 0);
      if (counts.at(-1) === 3) return;
    }
  })();
  await apply(kubectl, sleeper('monotonic', {}, { livenessProbe }));
  await watching;
  assert.deepEqual(counts, [...counts].sort());
  outputOf(await kubectl('delete pod monotonic --wait=false'));
});

test('Probing container with readiness probe should not be ready before initial delay and never restart', async () => {
  const readinessProbe = { exec: { command: ['true'] }, initialDelaySeconds: 3 };
  await apply(kubectl, sleeper('patient', {}, { readinessProbe }));
  await waitForPod(kubectl, 'patient');
  const { status } = await getPod(kubectl, 'patient');
  const readyAt = Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '');
  const startedAt = Date.parse(status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
  assert.ok(readyAt - startedAt >= 3000, `${readyAt - startedAt} ms`);
  assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
});

test('Container Runtime blackbox test on terminated container should report its termination message, from its file or its log', async () => {
  const log = { terminationMessagePolicy: 'FallbackToLogsOnError' };
  const elsewhere = { terminationMessagePath: '/dev/termination-custom-log', securityContext: { runAsUser: 1000 } };
  const ended: Readonly<Record<string, readonly [script: string, more: object, message: string | undefined]>> = {
    'empty-when-well': ['echo DONE', log, undefined],
    'from-file-when-well': ['echo -n OK > /dev/termination-log; echo DONE', log, 'OK'],
    'from-log': ['echo -n DONE; false', log, 'DONE'],
    'custom-path': ['echo -n DONE > /dev/termination-custom-log', elsewhere, 'DONE'],
    'no-fallback': ['echo -n DONE; false', {}, undefined],
  };
  const names = Object.keys(ended);
  await apply(
    kubectl,
    ...Object.entries(ended).map(([name, [script, more]]) => sleeper(name, { restartPolicy: 'Never' }, { command: ['sh', '-c', script], ...more })),
  );
  const terminated = '{.status.containerStatuses[0].state.terminated.reason}';
  await Promise.all(
    names.map((name) => waitForField(kubectl, name, terminated, ended[name]?.[0].includes('false') === true ? 'Error' : 'Completed')),
  );
  for (const name of names) {
    const { status } = await getPod(kubectl, name);
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.message, ended[name]?.[2], name);
  }
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
