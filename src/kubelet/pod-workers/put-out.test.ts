import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startedNode } from '../testing/started-node.ts';
import { putOut } from './put-out.ts';

const { signal } = new AbortController();
const refusal = { reason: 'Evicted', message: 'no room. ', putOut: { isDisruption: true, keepsSuccess: false } };

test('a pod that is put out is Failed with reason, message and DisruptionTarget, and its object stays', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  const done = putOut(pod, refusal, 1, depsOf(node), signal);
  await node.settle();
  assert.equal(await done, true);
  const { phase, reason, message, conditions, containerStatuses } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'Evicted', 'no room. ']);
  const target = conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([target?.status, target?.reason, target?.message], ['True', 'TerminationByKubelet', 'no room. ']);
  assert.notEqual(containerStatuses?.[0]?.state?.terminated, undefined);
});

// Subtle behaviour 44.
test('an evicted pod is not Failed before its containers are dead', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  const release = hold(node, 'stopContainer');
  const done = putOut(pod, refusal, 1, depsOf(node), signal);
  await node.settle();
  const { phase, reason, conditions } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason, conditions?.some(({ type }) => type === 'DisruptionTarget')], ['Running', undefined, false]);
  release();
  await node.settle();
  assert.deepEqual([await done, node.pod()?.status?.phase], [true, 'Failed']);
});

test('who waits for a pod that does not die waits half as long again as its grace, and tells', async (t) => {
  const node = await startedNode(t);
  const pod = node.create({ spec: { terminationGracePeriodSeconds: 30 } });
  await node.settle();
  const release = hold(node, 'stopContainer');
  let answer: boolean | undefined;
  const done = putOut(pod, refusal, undefined, depsOf(node), signal).then((inTime) => {
    answer = inTime;
  });
  await node.advance(44_900);
  assert.equal(answer, undefined);
  await node.advance(200);
  await done;
  assert.equal(answer, false);
  assert.ok(node.events.includes('Warning ExceededGracePeriod Container runtime did not kill the pod within specified grace period.'));
  release();
  await node.settle();
  assert.equal(node.pod()?.status?.phase, 'Failed');
});

test('a pod that ends well while it is put out has succeeded where that counts', async (t) => {
  const node = await startedNode(t);
  const pod = node.create();
  await node.settle();
  const shutdown = { reason: 'Terminated', message: 'bye', putOut: { isDisruption: true, keepsSuccess: true } };
  node.runtime.before = (call) => {
    if (call === 'stopContainer') node.runtime.exit(node.runtime.containerNamed('main') ?? '', 0);
  };
  const done = putOut(pod, shutdown, 5, depsOf(node), signal);
  await node.settle();
  await done;
  const { phase, reason } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason], ['Succeeded', 'Terminated']);
});

// Subtle behaviour 62.
test('activeDeadlineSeconds counts from the start time of the status, and ends the pod on time whatever it waits for', async (t) => {
  const node = await startedNode(t);
  const release = hold(node, 'startContainer');
  node.create({ spec: { activeDeadlineSeconds: 20 } });
  await node.settle();
  const startedAtMs = Date.parse(node.pod()?.status?.startTime ?? '');
  await node.clock.advance(startedAtMs + 19_990 - node.clock.now());
  await node.settle();
  assert.equal(node.pod()?.status?.phase, 'Pending');
  await node.clock.advance(20);
  await node.settle();
  const { phase, reason, message } = node.pod()?.status ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline']);
  assert.ok(node.events.includes('Normal DeadlineExceeded Pod was active on the node longer than the specified deadline'));
  release();
  await node.settle();
  assert.equal(node.engine.workers.remainsOf('uid-of-web'), 'stopped');
});

type Node = Awaited<ReturnType<typeof startedNode>>;

function depsOf(node: Node) {
  return {
    workers: node.engine.workers,
    clock: node.clock,
    events: {
      emit: (_: unknown, { type, reason, message }: { type: string; reason: string; message: string }) =>
        void node.events.push(`${type} ${reason} ${message}`),
    },
  };
}

/** That call waits until the result is called. */
function hold(node: Node, which: string): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  node.runtime.before = (call) => (call === which ? held : undefined);
  return () => release();
}
