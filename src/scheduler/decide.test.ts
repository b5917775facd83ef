import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aNode, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { decide } from './decide.ts';
import { nodeRoom } from './node-room.ts';
import { podDemand } from './pod-demand.ts';

const GIB = 1024 ** 3;

function node(name: string, overrides: DeepPartial<Node> = {}): Node {
  return aNode({ ...overrides, metadata: { ...overrides.metadata, name } });
}

function asking(requests: Readonly<Record<string, string>>, spec: DeepPartial<Pod['spec']> = {}): Pod {
  return aPod({ spec: { ...spec, containers: [aContainer({ resources: { requests } })] } });
}

function outcome(pod: Pod, rooms: readonly (readonly [Node, ...Pod[]])[]): string {
  const decision = decide(
    podDemand(pod),
    rooms.map(([one, ...pods]) => nodeRoom(one, pods.map(podDemand))),
  );
  return decision.kind === 'assigned' ? decision.nodeName : decision.message;
}

const noVictims = '1 No preemption victims found for incoming pod';
const notHelpful = '1 Preemption is not helpful for scheduling';

test('without a node there is nothing to choose from', () => {
  assert.equal(outcome(aPod(), []), 'no nodes available to schedule pods');
});

test('requests must fit into what other pods have left, and all that is missing is told', () => {
  const small = node('a', { status: { allocatable: { cpu: '2', memory: '2Gi', pods: '10' } } });
  const tenant = asking({ cpu: '1500m', memory: '1Gi' });
  assert.equal(outcome(asking({ cpu: '500m', memory: '1Gi' }), [[small, tenant]]), 'a');
  assert.equal(
    outcome(asking({ cpu: '501m', memory: String(GIB + 1) }), [[small, tenant]]),
    `0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: ${noVictims}.`,
  );
  assert.equal(
    outcome(asking({ cpu: '3' }), [[small]]),
    `0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: ${notHelpful}.`,
  );
  assert.equal(
    outcome(asking({ 'example.com/gpu': '1' }), [[small]]),
    `0/1 nodes are available: 1 Insufficient example.com/gpu. preemption: 0/1 nodes are available: ${notHelpful}.`,
  );
});

test('a pod without requests needs a place among the pods of the node and nothing else', () => {
  const full = node('a', { status: { allocatable: { cpu: '1', memory: '1Gi', pods: '2' } } });
  assert.equal(outcome(aPod(), [[full, asking({ cpu: '1', memory: '1Gi' })]]), 'a');
  assert.match(outcome(aPod(), [[full, aPod(), aPod()]]), /^0\/1 nodes are available: 1 Too many pods\. /);
});

test('each filter tells its own reason, and the reasons of all nodes are counted and sorted', () => {
  const taint = { key: 'dedicated', effect: 'NoSchedule' };
  const nodes: readonly (readonly [Node, ...Pod[]])[] = [
    [node('cordoned', { spec: { unschedulable: true } })],
    [node('tainted-1', { spec: { taints: [taint] } })],
    [node('tainted-2', { spec: { taints: [{ ...taint, effect: 'NoExecute' }] } })],
    [node('other-zone')],
    [node('port-taken', { metadata: { labels: { zone: 'a' } } }), withPort(aPod())],
  ];
  assert.equal(
    outcome(withPort(aPod({ spec: { nodeSelector: { zone: 'a' } } })), nodes),
    "0/5 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) didn't match Pod's node affinity/selector, " +
      '1 node(s) were unschedulable, 2 node(s) had untolerated taint(s). preemption: 0/5 nodes are available: ' +
      '1 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.',
  );
});

function withPort(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, containers: [aContainer({ ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] })] } };
}

test('a pod that tolerates a cordon or a taint is taken all the same', () => {
  const tolerations = [{ operator: 'Exists' }];
  const closed = node('a', { spec: { unschedulable: true, taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } });
  assert.equal(outcome(aPod({ spec: { tolerations } }), [[closed]]), 'a');
});

test('the text says whether taking pods of lower priority away would help', () => {
  const one = node('a', { status: { allocatable: { cpu: '2', memory: '2Gi', pods: '10' } } });
  const text = (pod: Pod, ...tenants: readonly Pod[]) => outcome(pod, [[one, ...tenants]]).replace(/^.*?\. preemption: /, '');
  const tenants = [asking({ cpu: '1' }, { priority: 0 }), asking({ cpu: '1' }, { priority: 10 })];
  assert.equal(
    text(asking({ cpu: '1' }, { priority: 5 }), ...tenants),
    '0/1 nodes are available: 1 Preemption would help, but this scheduler does not preempt.',
  );
  assert.equal(text(asking({ cpu: '2' }, { priority: 5 }), ...tenants), '0/1 nodes are available: 1 Insufficient cpu.');
  assert.equal(text(asking({ cpu: '1' }, { priority: 0 }), ...tenants), `0/1 nodes are available: ${noVictims}.`);
  assert.equal(text(asking({ cpu: '1' }, { priority: 5, preemptionPolicy: 'Never' }), ...tenants), 'not eligible due to preemptionPolicy=Never.');
});

test('of the nodes that would do the emptiest is taken; pods without requests count too; equals are taken by name', () => {
  assert.equal(outcome(aPod(), [[node('b')], [node('a')]]), 'a');
  assert.equal(outcome(aPod(), [[node('b')], [node('a'), aPod()]]), 'b');
  assert.equal(
    outcome(asking({ cpu: '1' }), [
      [node('a'), asking({ cpu: '2' })],
      [node('b'), asking({ cpu: '1', memory: '1Gi' })],
    ]),
    'b',
  );
});

test('a preferred label, or a soft taint that is not there, counts for more than room', () => {
  const soft = { key: 'spot', effect: 'PreferNoSchedule' };
  assert.equal(outcome(aPod(), [[node('a', { spec: { taints: [soft] } })], [node('b'), aPod(), aPod(), aPod(), aPod()]]), 'b');
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } }];
  const wish = aPod({ spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } } });
  assert.equal(outcome(wish, [[node('a')], [node('b', { metadata: { labels: { disk: 'ssd' } } }), aPod(), aPod()]]), 'b');
});
