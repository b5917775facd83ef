import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode } from '#api/testing/objects.ts';
import type { Node, Taint } from '#api/types/core-v1.ts';
import { zonesOf } from './disruption.ts';
import { Heartbeats } from './heartbeats.ts';
import { type Eviction, planTaints, silentConditions, wantsEviction } from './plan.ts';

const now = '2030-01-01T00:00:00Z';
const foreign: Taint = { key: 'dedicated', value: 'db', effect: 'NoExecute' };

function node(ready: 'True' | 'False' | 'Unknown', taints: readonly Taint[] = [], name = 'node-1', zone = ''): Node {
  const labels = { 'topology.kubernetes.io/zone': zone };
  return aNode({ metadata: { name, labels }, spec: { taints }, status: { conditions: [{ type: 'Ready', status: ready }] } });
}

function noSchedule(name: string): Taint {
  return { key: `node.kubernetes.io/${name}`, effect: 'NoSchedule' };
}

function noExecute(name: string, timeAdded = now): Taint {
  return { key: `node.kubernetes.io/${name}`, effect: 'NoExecute', timeAdded };
}

test('taints follow the readiness of the node, and those of others stay', () => {
  const table: readonly [Node, Eviction, readonly Taint[] | undefined][] = [
    [node('True'), 'allowed', undefined],
    [node('True', [foreign]), 'allowed', undefined],
    [node('True', [noSchedule('not-ready'), foreign, noExecute('unreachable')]), 'hold', [foreign]],
    [node('False', [foreign]), 'allowed', [foreign, noSchedule('not-ready'), noExecute('not-ready')]],
    [node('Unknown'), 'hold', [noSchedule('unreachable')]],
    [node('Unknown', [noSchedule('not-ready'), noExecute('not-ready', 'earlier')]), 'hold', [noSchedule('unreachable'), noExecute('unreachable')]],
    [node('Unknown', [noSchedule('unreachable'), noExecute('unreachable', 'earlier')]), 'allowed', undefined],
    [node('Unknown', [noSchedule('unreachable'), noExecute('unreachable', 'earlier')]), 'none', [noSchedule('unreachable')]],
  ];
  for (const [one, eviction, expected] of table) assert.deepEqual(planTaints(one, eviction, now), expected, JSON.stringify([one.spec, eviction]));
});

test('pressure, a missing network and a cordon keep new pods away; a node that said nothing yet does too', () => {
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable', 'Ready'].map((type) => ({ type, status: 'True' }));
  const pressed = aNode({ spec: { unschedulable: true }, status: { conditions } });
  const expected = ['memory-pressure', 'disk-pressure', 'pid-pressure', 'network-unavailable', 'unschedulable'].map(noSchedule);
  assert.deepEqual(planTaints(pressed, 'allowed', now), expected);
  assert.deepEqual(planTaints(aNode({ status: { conditions: [] } }), 'hold', now), [noSchedule('not-ready')]);
});

test('a node wants to drive its pods away when it is not ready and has no taint for it yet', () => {
  assert.equal(wantsEviction(node('True')), false);
  assert.equal(wantsEviction(node('Unknown', [noSchedule('unreachable')])), true);
  assert.equal(wantsEviction(node('Unknown', [noExecute('not-ready')])), false);
});

test('the conditions of a silent node become unknown, once, and tell when it was heard last', () => {
  const conditions = [
    { type: 'Ready', status: 'True', lastHeartbeatTime: 'then' },
    { type: 'DiskPressure', status: 'Unknown' },
    { type: 'NetworkUnavailable', status: 'False' },
  ];
  const stopped = { status: 'Unknown', lastTransitionTime: now, reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const never = { ...stopped, reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.', lastHeartbeatTime: 'created' };
  const silent = aNode({ metadata: { creationTimestamp: 'created' }, status: { conditions } });
  assert.deepEqual(silentConditions(silent, now), [
    { type: 'Ready', ...stopped, lastHeartbeatTime: 'then' },
    { type: 'MemoryPressure', ...never },
    { type: 'PIDPressure', ...never },
  ]);
});

test('a node is silent when neither its status nor its lease changed for the grace, by our clock', () => {
  const heartbeats = new Heartbeats();
  const left = (nowMs: number) => heartbeats.leftMs('a', 40, 60, nowMs);
  heartbeats.see('a', 'status', undefined, 0);
  assert.deepEqual([left(10), left(60)], [50, 0]); // new: the longer grace
  heartbeats.see('a', 'status', '2020', 100);
  heartbeats.see('a', 'lease', '1999', 110);
  assert.equal(left(110), 40);
  heartbeats.see('a', 'status', '2020', 120); // the same again says nothing
  heartbeats.see('a', 'lease', '1999', 120);
  assert.equal(left(150), 0);
  heartbeats.see('a', 'lease', '1998', 160); // a clock that was set back is a sign of life
  assert.equal(left(160), 40);
});

test('when most of a small zone is gone nobody is driven away; when all of everything is, taints come off', () => {
  const zone = (name: string, ready: number, unready: number) => [
    ...Array.from({ length: ready }, (_, n) => node('True', [], `${name}-up-${n}`, name)),
    ...Array.from({ length: unready }, (_, n) => node('Unknown', [], `${name}-down-${n}`, name)),
  ];
  const interval = (nodes: readonly Node[], name: string) => zonesOf(nodes).evictionIntervalMs(`/${name}`, 10);
  assert.equal(interval(zone('a', 2, 2), 'a'), 10);
  assert.equal(interval(zone('a', 2, 3), 'a'), Number.POSITIVE_INFINITY);
  assert.equal(interval(zone('a', 20, 40), 'a'), 100);
  assert.equal(zonesOf([...zone('a', 0, 2), ...zone('b', 1, 0)]).allFullyDisrupted, false);
  assert.equal(zonesOf([...zone('a', 0, 2), ...zone('b', 0, 1)]).allFullyDisrupted, true);
  assert.equal(zonesOf([]).allFullyDisrupted, false);
});
