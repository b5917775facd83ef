import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startedNode, summary } from './testing/started-node.ts';

// How pods end, and what a kubelet knows that has forgotten everything.

test('a deleted pod leaves nothing: containers, sandbox, folders, cgroup, logs, object', async (t) => {
  const node = await startedNode(t);
  const before = [node.runtime.snapshot(), node.hostCgroups.paths];
  node.create();
  await node.settle();
  assert.equal(node.hostCgroups.paths.filter((path) => path.includes('uid-of-web')).length, 1);
  node.delete();
  await node.settle();
  assert.equal(node.pod(), undefined);
  assert.deepEqual(node.runtime.log.slice(3), ['stopContainer', 'stopPodSandbox', 'removeContainer', 'removePodSandbox']);
  assert.deepEqual(node.runtime.snapshot(), before[0]);
  assert.deepEqual(
    node.hostCgroups.paths.filter((path) => path.includes('uid-of-web')),
    [],
  );
  const signal = new AbortController().signal;
  assert.deepEqual([await node.files.list('/kubelet/pods', signal), await node.files.list('/pod-logs', signal)], [[], []]);
  assert.deepEqual([...node.engine.workers.knownUids()], []);
});

test('a pod whose object is removed by force is taken down all the same', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  await node.api.send(
    { method: 'DELETE', path: '/api/v1/namespaces/default/pods/web', query: new URLSearchParams(), headers: {}, body: '{"gracePeriodSeconds":0}' },
    new AbortController().signal,
  );
  await node.settle();
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
  assert.deepEqual([...node.engine.workers.knownUids()], []);
});

test('a restarted kubelet touches nothing that runs, and remembers how often it was started', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  node.runtime.exit(node.runtime.containerNamed('main') ?? '', 1);
  await node.settle();
  const before = [...node.runtime.log];
  await node.stop();
  await node.start();
  await node.settle();
  await node.housekeep();
  assert.deepEqual(node.runtime.log, before);
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
});

test('what crashed while no kubelet ran is found and started again', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  await node.stop();
  node.runtime.exit(node.runtime.containerNamed('main') ?? '', 1);
  await node.start();
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Running', 'running', 1]);
});

test('a pod that nobody knows any more is taken down after a restart', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  await node.stop();
  await node.api.send(
    { method: 'DELETE', path: '/api/v1/namespaces/default/pods/web', query: new URLSearchParams(), headers: {}, body: '{"gracePeriodSeconds":0}' },
    new AbortController().signal,
  );
  await node.start();
  await node.settle();
  assert.notDeepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
  await node.files.ensureDirectory('/kubelet/pods/of-nobody', 0o750, new AbortController().signal);
  const asked = node.api.requests.length;
  await node.housekeep();
  assert.deepEqual(node.runtime.snapshot(), { sandboxes: [], containers: [] });
  assert.deepEqual([...node.engine.workers.knownUids()], [], pod.metadata.uid);
  assert.deepEqual(node.api.requests.slice(asked), [], 'there is no object to tell of its end');
});

test('a pod that runs to its end is Succeeded, its cgroup and folders go, its logs stay until it is deleted', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { restartPolicy: 'Never' } });
  await node.settle();
  node.runtime.exit(node.runtime.containerNamed('main') ?? '', 0);
  await node.settle();
  assert.deepEqual(summary(node.pod()), ['Succeeded', 'Completed', 0]);
  assert.deepEqual(
    node.hostCgroups.paths.filter((path) => path.includes('uid-of-web')),
    [],
  );
  assert.deepEqual(node.runtime.log.slice(3), ['stopPodSandbox']);
  assert.equal(node.pod()?.status?.podIP, '10.0.0.2');
  node.delete('web', 0);
  await node.settle();
  assert.deepEqual([node.pod(), node.runtime.snapshot()], [undefined, { sandboxes: [], containers: [] }]);
});

test('an active deadline ends the pod as Failed', async (t) => {
  const node = await startedNode(t);
  node.create({ spec: { activeDeadlineSeconds: 60 } });
  await node.settle();
  await node.advance(61_000);
  const { phase, reason } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded']);
});

test('subtle 43: a pod that somebody has ended in the API stays as it was ended, and what runs of it is killed', async (t) => {
  const node = await startedNode(t);
  node.create();
  await node.settle();
  const pod = node.pod();
  node.api.put('pods', { ...pod, status: { ...pod?.status, phase: 'Failed', reason: 'Because', message: 'of that' } });
  await node.settle();
  await node.advance(1000);
  const { phase, reason, message, containerStatuses } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'Because', 'of that']);
  assert.deepEqual(node.runtime.log.slice(3, 5), ['stopContainer', 'stopPodSandbox']);
  assert.notEqual(containerStatuses?.[0]?.state?.terminated, undefined);
});
