import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { NodePart, PodStartup } from './pod-startup.ts';
import { StartupRecords } from './records.ts';
import { timelineLines } from './timeline.ts';

const part = (name: string, uid = name): NodePart => ({
  namespace: 'default',
  name,
  uid,
  seenByKubeletMs: 12,
  steps: [
    {
      name: 'sandbox',
      title: 'Make the sandbox',
      phase: 'done',
      startedAtMs: 13,
      doneAtMs: 63,
      tookMs: 50,
      attempts: 1,
      slowAfterMs: 1000,
      calls: [{ name: 'RunPodSandbox', startedAtMs: 14, tookMs: 48.5 }],
    },
  ],
});

test('what the API server saw and what the node did become one record', () => {
  const records = new StartupRecords(10, 0);
  const pod = aPod({ metadata: { name: 'web', uid: 'web' } });
  records.seePod(pod, 0);
  records.seePod({ ...pod, spec: { ...pod.spec, containers: [], nodeName: 'n1' } }, 10);
  records.addBatch({ nodeName: 'n1', items: [part('web')] });
  records.seePod({ ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }, 90);
  const record = records.get('default', 'web');
  assert.equal(record?.metadata.creationTimestamp, pod.metadata.creationTimestamp);
  assert.deepEqual(record?.milestones, { stored: 0, assigned: 10, seenByKubelet: 12, running: 90, firstReady: 90 });
  assert.deepEqual(record === undefined ? [] : timelineLines(record), [
    'pod default/web on node n1',
    '        AT        TOOK  STEP',
    '      0 µs              stored by the API server',
    '   10.0 ms              assigned to a node',
    '   12.0 ms              seen by the kubelet',
    '   13.0 ms     50.0 ms  sandbox',
    '   14.0 ms     48.5 ms    RunPodSandbox',
    '   90.0 ms              Running, seen by a client',
    '   90.0 ms              Ready',
  ]);
});

test('a moment that was reached stays as it was', () => {
  const records = new StartupRecords(10, 0);
  const pod = aPod({ metadata: { uid: 'u' } });
  const seen: PodStartup[] = [];
  records.seePod(pod, 5);
  records.subscribe((record) => seen.push(record));
  records.seePod(pod, 99);
  assert.equal(records.get('default', 'web')?.milestones.stored, 5);
  assert.deepEqual(seen, []);
});

test('the ring is bounded: what changed longest ago goes first', () => {
  const records = new StartupRecords(2, 0);
  records.addBatch({ nodeName: 'n1', items: [part('a'), part('b')] });
  records.addBatch({ nodeName: 'n1', items: [part('a'), part('c')] });
  assert.deepEqual(
    records.list(undefined).map((record) => record.metadata.name),
    ['a', 'c'],
  );
});

test('of two pods of one name the newer is answered', () => {
  const records = new StartupRecords(10, 0);
  records.addBatch({ nodeName: 'n1', items: [part('web', 'old')] });
  records.addBatch({ nodeName: 'n1', items: [part('web', 'new')] });
  assert.equal(records.get('default', 'web')?.metadata.uid, 'new');
  assert.equal(records.get('other', 'web'), undefined);
});

test('it knows whether somebody watches', () => {
  const records = new StartupRecords(10, 0);
  const unsubscribe = records.subscribe(() => undefined);
  assert.equal(records.isWatched, true);
  unsubscribe();
  assert.equal(records.isWatched, false);
});

test('of a pod that was there before this process nothing is made up', () => {
  const records = new StartupRecords(10, Date.parse('2030-01-01T00:00:10Z'));
  records.seePod(aPod({ metadata: { creationTimestamp: '2030-01-01T00:00:08Z' } }), 5);
  assert.deepEqual(records.list(undefined), []);
});
