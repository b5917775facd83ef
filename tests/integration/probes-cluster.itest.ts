import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { Pod, Probe } from '#api/types/core-v1.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, getPod, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const { kubectl } = cluster;
const never = new AbortController().signal;

const everySecond = { periodSeconds: 1, timeoutSeconds: 1 };
const fileThere = (file: string): Probe => ({ exec: { command: ['cat', file] }, ...everySecond });

/** Resolves with the first state of the pod, the present one included, that passes. */
async function untilPod(name: string, what: string, accept: (pod: Pod) => boolean): Promise<Pod> {
  const now = await getPod(kubectl, name);
  if (accept(now)) return now;
  const options = { namespace: 'default', fieldSelector: `metadata.name=${name}`, resourceVersion: now.metadata.resourceVersion, timeoutSeconds: 40 };
  for await (const event of cluster.client.watch(podKind, options, never)) {
    if (event.type !== 'BOOKMARK' && accept(event.object)) return event.object;
  }
  return assert.fail(`${name}: ${what} did not happen`);
}

const readiness = (pod: Pod): boolean | undefined => pod.status?.containerStatuses?.[0]?.ready;

async function eventsOf(name: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(eventKind, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` }, never);
  return items.map(({ reason, message }) => `${reason}: ${message}`);
}

test('a container is ready from the moment that its probe succeeds until it fails', async () => {
  await apply(kubectl, sleeper('ready', {}, { readinessProbe: { ...fileThere('/tmp/ok'), failureThreshold: 1 } }));
  const running = await untilPod('ready', 'running', (pod) => pod.status?.containerStatuses?.[0]?.state?.running !== undefined);
  assert.equal(readiness(running), false);
  outputOf(await kubectl('exec ready -- touch /tmp/ok'));
  await waitForPod(kubectl, 'ready');
  outputOf(await kubectl('exec ready -- rm /tmp/ok'));
  const after = await untilPod('ready', 'not ready', (pod) => readiness(pod) === false);
  assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.ok((await eventsOf('ready')).some((event) => event.startsWith("Unhealthy: Readiness probe failed: cat: can't open '/tmp/ok'")));
});

test('a container whose liveness probe fails is killed and runs again, with the words of it', async () => {
  const command = ['sh', '-c', 'touch /tmp/alive; trap "exit 0" TERM; sleep 100000 & wait'];
  await apply(kubectl, sleeper('alive', {}, { command, livenessProbe: { ...fileThere('/tmp/alive'), failureThreshold: 1, initialDelaySeconds: 1 } }));
  await waitForPod(kubectl, 'alive');
  outputOf(await kubectl('exec alive -- rm /tmp/alive'));
  await waitForField(kubectl, 'alive', '{.status.containerStatuses[0].restartCount}', '1');
  await waitForPod(kubectl, 'alive');
  assert.ok((await eventsOf('alive')).includes('Killing: Container main failed liveness probe, will be restarted'));
});

test('nothing is ready before the startup probe has succeeded', async () => {
  const probes = {
    startupProbe: { ...fileThere('/tmp/started'), failureThreshold: 60 },
    readinessProbe: { exec: { command: ['true'] }, periodSeconds: 60 },
  };
  await apply(kubectl, sleeper('starts', {}, probes));
  const running = await untilPod('starts', 'running', (pod) => pod.status?.containerStatuses?.[0]?.state?.running !== undefined);
  assert.deepEqual([running.status?.containerStatuses?.[0]?.started, readiness(running)], [false, false]);
  outputOf(await kubectl('exec starts -- touch /tmp/started'));
  const ready = await untilPod('starts', 'ready', (pod) => readiness(pod) === true);
  assert.equal(ready.status?.containerStatuses?.[0]?.started, true);
});

test('HTTP and TCP probes reach the pod at its address', async () => {
  const command = ['sh', '-c', 'mkdir /www; echo ok > /www/ok; exec httpd -f -p 8080 -h /www'];
  const web = {
    command,
    ports: [{ name: 'web', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ok', port: 'web' }, ...everySecond },
    livenessProbe: { tcpSocket: { port: 8080 }, ...everySecond },
  };
  await apply(
    kubectl,
    sleeper('web', {}, web),
    sleeper('wrong', {}, { ...web, readinessProbe: { httpGet: { path: '/missing', port: 'web' }, ...everySecond } }),
  );
  await waitForPod(kubectl, 'web');
  const isTold = async () => (await eventsOf('wrong')).includes('Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404');
  for (let look = 0; !(await isTold()); look += 1) {
    assert.ok(look < 200, 'the failed probe is told');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(readiness(await getPod(kubectl, 'wrong')), false);
});
