import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Container, Pod, Probe } from '#api/types/core-v1.ts';
import { toldOf } from '../support/events.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { type ProbeTargets, startProbeTargets } from '../support/probe-targets.ts';
import { startCluster } from '../support/start-cluster.ts';

// Each kind of probe with each handler, each restart policy with each exit code: what kubectl shows, the events, the conditions.
// The back-off between restarts starts at upstream's 10 s: here it may not take so long.
const targets: ProbeTargets = await startProbeTargets();
const cluster = await startCluster({ upFlags: ['--timing', 'crashBackoffBaseMs=100'] });
const { kubectl } = cluster;
after(() => targets[Symbol.asyncDispose]());

const kinds = ['startup', 'readiness', 'liveness'] as const;
type Kind = (typeof kinds)[number];
const handlers = ['exec', 'http', 'https', 'tcp', 'grpc'] as const;
type Handler = (typeof handlers)[number];

function probeOf(handler: Handler, isGood: boolean): Probe {
  const base = { periodSeconds: 1, failureThreshold: isGood ? 30 : 1 };
  const path = isGood ? '/ok' : '/bad';
  switch (handler) {
    case 'exec':
      return { ...base, exec: { command: ['sh', '-c', isGood ? 'true' : 'echo no; echo way >&2; exit 3'] } };
    case 'http':
      return { ...base, httpGet: { path, port: targets.http } };
    case 'https':
      return { ...base, httpGet: { path, port: targets.https, scheme: 'HTTPS' } };
    case 'tcp':
      return { ...base, tcpSocket: { port: isGood ? targets.tcp : targets.closed } };
    case 'grpc':
      return { ...base, grpc: { port: targets.grpc, service: isGood ? 'good' : 'bad' } };
  }
}

const wordsOf: Readonly<Record<Handler, RegExp>> = {
  exec: /^no\nway\n$/,
  http: /^HTTP probe failed with statuscode: 503$/,
  https: /^HTTP probe failed with statuscode: 503$/,
  tcp: /^dial tcp [\d.]+:\d+: connect: connection refused$/,
  grpc: /^service unhealthy \(responded with "NOT_SERVING"\)$/,
};

/** With the host's network, so that it is reached where the targets listen. */
const probed = (name: string, container: Partial<Container>) => sleeper(name, { hostNetwork: true }, container);
const ended = (name: string, spec: object, exitCode: number, container: object = {}) =>
  sleeper(name, spec, { command: ['sh', '-c', `exit ${exitCode}`], ...container });

/** READY, STATUS and RESTARTS as kubectl shows them. */
async function columnsOf(name: string): Promise<readonly string[]> {
  const [, ready = '', status = '', restarts = ''] = outputOf(await kubectl(`get pod ${name} --no-headers`)).split(/\s+/);
  return [ready, status, restarts];
}

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((condition) => condition.type === type);

/** Waits, by watching: what kubectl looks for may be over when it looks. */
async function seen(name: string, accept: (pod: Pod) => boolean): Promise<Pod> {
  const options = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  for await (const one of cluster.client.watch(podKind, options, AbortSignal.timeout(60_000))) {
    if (one.type !== 'BOOKMARK' && accept(one.object)) return one.object;
  }
  return assert.fail(`the watch of ${name} has ended`);
}

const eventOf = (name: string, reason: string, accept: (message: string) => boolean) => toldOf(cluster, name, reason, accept);

test('all kinds of probes succeed with every handler', async () => {
  const all = (handler: Handler) => ({
    startupProbe: probeOf(handler, true),
    readinessProbe: probeOf(handler, true),
    livenessProbe: probeOf(handler, true),
  });
  await apply(kubectl, ...handlers.map((handler) => probed(`good-${handler}`, all(handler))));
  await Promise.all(handlers.map((handler) => waitForPod(kubectl, `good-${handler}`)));
  for (const handler of handlers) {
    assert.deepEqual(await columnsOf(`good-${handler}`), ['1/1', 'Running', '0']);
    const [container] = (await getPod(kubectl, `good-${handler}`)).status?.containerStatuses ?? [];
    assert.deepEqual([container?.started, container?.ready], [true, true]);
  }
  outputOf(await kubectl('delete pod --all --wait=false'));
});

test('a readiness probe that fails keeps the pod unready, in the words of its handler, and restarts nothing', async () => {
  const names = handlers.map((handler) => `unready-${handler}`);
  await apply(kubectl, ...handlers.map((handler) => probed(`unready-${handler}`, { readinessProbe: probeOf(handler, false) })));
  for (const handler of handlers) {
    const told = await eventOf(`unready-${handler}`, 'Unhealthy', (message) => message.startsWith('Readiness probe failed: '));
    assert.match(told.slice('Readiness probe failed: '.length), wordsOf[handler]);
    assert.deepEqual(await columnsOf(`unready-${handler}`), ['0/1', 'Running', '0']);
  }
  const pod = await getPod(kubectl, names[0] ?? '');
  assert.deepEqual(
    [conditionOf(pod, 'Ready')?.reason, conditionOf(pod, 'Ready')?.message],
    ['ContainersNotReady', 'containers with unready status: [main]'],
  );
  outputOf(await kubectl('delete pod --all --wait=false'));
});

for (const kind of ['liveness', 'startup'] as const satisfies readonly Kind[]) {
  test(`a ${kind} probe that fails restarts the container, whatever its handler`, async () => {
    const field = kind === 'liveness' ? 'livenessProbe' : 'startupProbe';
    const title = kind === 'liveness' ? 'Liveness' : 'Startup';
    await apply(kubectl, ...handlers.map((handler) => probed(`${kind}-${handler}`, { [field]: probeOf(handler, false) })));
    await Promise.all(
      handlers.map(async (handler) => {
        const name = `${kind}-${handler}`;
        const told = await eventOf(name, 'Unhealthy', (message) => message.startsWith(`${title} probe failed: `));
        assert.match(told.slice(`${title} probe failed: `.length), wordsOf[handler]);
        const killing = await eventOf(name, 'Killing', (message) => message.includes('probe'));
        assert.equal(killing, `Container main failed ${kind} probe, will be restarted`);
        await seen(name, ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
      }),
    );
    outputOf(await kubectl('delete pod --all --wait=false'));
  });
}

test('a request of a probe is a probe’s; a redirect to another host is a success with a warning; a port that has no name is an error', async () => {
  const asks = {
    path: '/ok-headers',
    port: targets.http,
    httpHeaders: [
      { name: 'X-Probe', value: 'yes' },
      { name: 'Host', value: 'example.com' },
    ],
  };
  await apply(
    kubectl,
    probed('headers', { readinessProbe: { periodSeconds: 1, httpGet: asks } }),
    probed('away', { readinessProbe: { periodSeconds: 1, httpGet: { path: '/away', port: targets.http } } }),
    probed('nameless', { readinessProbe: { periodSeconds: 1, tcpSocket: { port: 'nobody' } } }),
  );
  await Promise.all([waitForPod(kubectl, 'headers'), waitForPod(kubectl, 'away')]);
  const [headers] = targets.headersOf('/ok-headers');
  const { 'user-agent': agent, accept, host, 'x-probe': own, 'accept-encoding': encoding } = headers ?? {};
  assert.match(agent ?? '', /^kube-probe\/1\.\d+$/);
  assert.deepEqual([accept, host, own, encoding], ['*/*', 'example.com', 'yes', undefined]);
  assert.equal(await eventOf('away', 'ProbeWarning', () => true), 'Readiness probe warning: Probe terminated redirects, Response body: gone away');
  assert.equal(
    await eventOf('nameless', 'Unhealthy', () => true),
    'Readiness probe errored and resulted in unknown state: strconv.Atoi: parsing "nobody": invalid syntax',
  );
  outputOf(await kubectl('delete pod --all --wait=false'));
});

test('subtle 33: a liveness probe that cannot be asked is told each period, and counts neither as success nor as failure', async () => {
  const livenessProbe = { periodSeconds: 1, failureThreshold: 1, tcpSocket: { port: 'nobody' } };
  await apply(kubectl, probed('unasked', { livenessProbe }));
  const words = 'Liveness probe errored and resulted in unknown state: strconv.Atoi: parsing "nobody": invalid syntax';
  const options = { namespace: 'default', fieldSelector: 'involvedObject.name=unasked,reason=Unhealthy' };
  for await (const one of cluster.client.watch(eventKind, options, AbortSignal.timeout(30_000))) {
    if (one.type === 'BOOKMARK') continue;
    assert.equal(one.object.message, words);
    if ((one.object.count ?? 0) >= 3) break;
  }
  assert.deepEqual(await columnsOf('unasked'), ['1/1', 'Running', '0']);
  outputOf(await kubectl('delete pod unasked --wait=false'));
});

test('a probe that has a grace period of its own gives that to the container that it ends, not the pod’s', async () => {
  const livenessProbe = { ...probeOf('exec', false), terminationGracePeriodSeconds: 1 };
  const command = ['sh', '-c', 'trap "" TERM; sleep 1000 & wait; sleep 1000'];
  const side = { name: 'side', image: busybox, imagePullPolicy: 'IfNotPresent', restartPolicy: 'Always', command, livenessProbe };
  const spec = { terminationGracePeriodSeconds: 600 };
  await apply(kubectl, sleeper('deaf', spec, { command, livenessProbe }), sleeper('beside', { ...spec, initContainers: [side] }));
  await waitForField(kubectl, 'deaf', '{.status.containerStatuses[0].restartCount}', '1', 30);
  await waitForField(kubectl, 'beside', '{.status.initContainerStatuses[0].restartCount}', '1', 30);
  const [ofMain, ofSide] = [await getPod(kubectl, 'deaf'), await getPod(kubectl, 'beside')];
  assert.equal(ofMain.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
  assert.equal(ofSide.status?.initContainerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
  assert.equal(await eventOf('beside', 'Killing', () => true), 'Init container side failed liveness probe');
  outputOf(await kubectl('delete pod deaf beside --wait=false --grace-period=1'));
});

test('each restart policy with each exit code', async () => {
  const policies = ['Always', 'OnFailure', 'Never'] as const;
  const pods = policies.flatMap((restartPolicy) =>
    [0, 1].map((exitCode) => ended(`${restartPolicy.toLowerCase()}-${exitCode}`, { restartPolicy }, exitCode)),
  );
  await apply(kubectl, ...pods);
  const phase = '{.status.phase}';
  await Promise.all([
    waitForField(kubectl, 'onfailure-0', phase, 'Succeeded'),
    waitForField(kubectl, 'never-0', phase, 'Succeeded'),
    waitForField(kubectl, 'never-1', phase, 'Failed'),
    ...['always-0', 'always-1', 'onfailure-1'].map((name) => seen(name, ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 1)),
  ]);
  assert.deepEqual(await columnsOf('onfailure-0'), ['0/1', 'Completed', '0']);
  assert.deepEqual(await columnsOf('never-0'), ['0/1', 'Completed', '0']);
  assert.deepEqual(await columnsOf('never-1'), ['0/1', 'Error', '0']);
  for (const [name, exitCode, reason] of [
    ['always-0', 0, 'Completed'],
    ['always-1', 1, 'Error'],
    ['onfailure-1', 1, 'Error'],
  ] as const) {
    const pod = await seen(name, ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff');
    const terminated = pod.status?.containerStatuses?.[0]?.lastState?.terminated;
    assert.deepEqual([pod.status?.phase, terminated?.exitCode, terminated?.reason], ['Running', exitCode, reason]);
    assert.equal(conditionOf(pod, 'ContainersReady')?.message, 'containers with unready status: [main]');
  }
  const succeeded = await getPod(kubectl, 'never-0');
  const failed = await getPod(kubectl, 'never-1');
  assert.deepEqual(
    ['Initialized', 'Ready', 'ContainersReady'].map((type) => `${conditionOf(succeeded, type)?.status} ${conditionOf(succeeded, type)?.reason}`),
    ['True PodCompleted', 'False PodCompleted', 'False PodCompleted'],
  );
  assert.deepEqual([conditionOf(failed, 'Ready')?.reason, conditionOf(failed, 'ContainersReady')?.reason], ['PodFailed', 'PodFailed']);
  outputOf(await kubectl('delete pod --all --wait=false'));
});

test('rules of containers: one restarts for its exit code, one restarts all of its pod, and no record is lost', async () => {
  const rule = (action: string) => ({ restartPolicy: 'Never', restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [42] } }] });
  const twice = (second: number) => ['sh', '-c', `if mkdir /data/once; then exit 42; else exit ${second}; fi`];
  const volumes = [{ name: 'data', emptyDir: {} }];
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const other = { name: 'other', image: 'docker.io/library/busybox:latest', imagePullPolicy: 'IfNotPresent', command: ['sleep', '100000'] };
  const all = sleeper(
    'all',
    { restartPolicy: 'Never', volumes, initContainers: [{ ...other, name: 'init', command: ['true'] }] },
    {
      ...rule('RestartAllContainers'),
      command: ['sh', '-c', 'if mkdir /data/once; then sleep 1; exit 42; fi; sleep 100000'],
      volumeMounts,
    },
  ) as { spec: { containers: object[] } };
  all.spec.containers.push(other);
  await apply(kubectl, sleeper('one', { restartPolicy: 'Never', volumes }, { ...rule('Restart'), command: twice(7), volumeMounts }), all);
  await waitForField(kubectl, 'one', '{.status.phase}', 'Failed');
  assert.deepEqual(await columnsOf('one'), ['0/1', 'Error', '1']);
  await waitForField(kubectl, 'all', '{.status.containerStatuses[1].restartCount}', '1');
  await waitForPod(kubectl, 'all');
  const pod = await getPod(kubectl, 'all');
  const counts = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(({ restartCount }) => restartCount);
  assert.deepEqual(counts, [1, 1, 1]);
  assert.equal(conditionOf(pod, 'AllContainersRestarting')?.status, 'False');
  outputOf(await kubectl('delete pod --all --wait=false'));
});

test('subtle 65: a readiness gate that its owner opens makes the pod ready; conditions of others are kept', async () => {
  await apply(kubectl, sleeper('gated', { readinessGates: [{ conditionType: 'example.com/gate' }] }));
  await waitForPod(kubectl, 'gated', 'ContainersReady');
  const closed = await getPod(kubectl, 'gated');
  assert.deepEqual(
    [conditionOf(closed, 'Ready')?.reason, conditionOf(closed, 'Ready')?.message],
    ['ReadinessGatesNotReady', 'corresponding condition of pod readiness gate "example.com/gate" does not exist.'],
  );
  const gate = (status: string) => JSON.stringify({ status: { conditions: [{ type: 'example.com/gate', status }] } });
  outputOf(await kubectl(['patch', 'pod', 'gated', '--subresource=status', '-p', gate('True')]));
  await waitForPod(kubectl, 'gated');
  outputOf(await kubectl(['patch', 'pod', 'gated', '--subresource=status', '-p', gate('False')]));
  await waitForPod(kubectl, 'gated', 'Ready=false');
  const shut = await getPod(kubectl, 'gated');
  assert.equal(conditionOf(shut, 'Ready')?.message, 'the status of pod readiness gate "example.com/gate" is not "True", but False');
  assert.equal(shut.status?.containerStatuses?.[0]?.restartCount, 0);
});
