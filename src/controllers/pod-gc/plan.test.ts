import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { missingNodes, planPodGc } from './plan.ts';

const deletionTimestamp = '2030-01-01T00:00:00Z';

function pod(name: string, overrides: DeepPartial<Pod> = {}): Pod {
  return aPod({ ...overrides, metadata: { ...overrides.metadata, name, uid: `uid-of-${name}` } });
}

function planned(pods: readonly Pod[], goneNodes: readonly string[] = [], nodes = [aNode()], terminatedLimit = 100): readonly string[] {
  return planPodGc({ pods, nodes, goneNodes: new Set(goneNodes), terminatedLimit }).map((one) => `${one.reason} ${one.pod.metadata.name}`);
}

test('pods of a node that is gone, and pods that are deleted without ever having had one, are removed; all others stay', () => {
  const pods = [
    pod('running', { spec: { nodeName: 'node-1' } }),
    pod('deleting', { spec: { nodeName: 'node-1' }, metadata: { deletionTimestamp } }),
    pod('orphan', { spec: { nodeName: 'gone' } }),
    pod('pending'),
    pod('unscheduled', { metadata: { deletionTimestamp } }),
    pod('done', { status: { phase: 'Succeeded' } }),
  ];
  assert.deepEqual(planned(pods, ['gone']), ['orphaned orphan', 'unscheduled unscheduled']);
  assert.deepEqual([...missingNodes(pods, [aNode()])], ['gone']);
});

test('of the pods that are done beyond the limit evicted ones go first, then the oldest', () => {
  const done = (name: string, creationTimestamp: string, reason = '') =>
    pod(name, { metadata: { creationTimestamp }, status: { phase: 'Failed', reason } });
  const pods = [done('new', '2030-01-03T00:00:00Z'), done('old', '2030-01-01T00:00:00Z'), done('evicted', '2030-01-04T00:00:00Z', 'Evicted')];
  assert.deepEqual(planned(pods, [], [], 3), []);
  assert.deepEqual(planned(pods, [], [], 1), ['terminated evicted', 'terminated old']);
});

test('pods that are deleted on a node that was declared lost are removed, unless it is ready', () => {
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
  const pods = [pod('deleting', { spec: { nodeName: 'node-1' }, metadata: { deletionTimestamp } }), pod('staying', { spec: { nodeName: 'node-1' } })];
  const lost = aNode({ spec: { taints }, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
  assert.deepEqual(planned(pods, [], [lost]), ['out-of-service deleting']);
  assert.deepEqual(planned(pods, [], [aNode({ spec: { taints } })]), []);
});
