import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap as configMapKind } from '#api/kinds/core/v1/config-map.ts';
import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { persistentVolume as volumeKind } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim as claimKind } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import { podDisruptionBudget as budgetKind } from '#api/kinds/policy/v1/pod-disruption-budget.ts';
import type { NewObject } from '#api/object.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { keepLease } from '#client/leases.ts';
import { eventually, startControlPlane } from '../support/control-plane.ts';

const limits = { timeout: 20_000 };
const isThere = (object: unknown) => object !== undefined;
const isGone = (object: unknown) => object === undefined;

function aPodToBe(namespace: string, name: string, nodeName: string): NewObject<Pod> {
  return { metadata: { namespace, name }, spec: { nodeName, containers: [{ name: 'main', image: 'busybox' }] } };
}

const readyStatus = {
  allocatable: { cpu: '2', memory: '8Gi', pods: '110' },
  conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: '2030-01-01T00:00:00Z' }],
} satisfies Node['status'];

test('every namespace has a service account and the root CA, the system namespaces too', limits, async (t) => {
  const { admin } = await startControlPlane(t);
  await admin.create(namespaceKind, { metadata: { name: 'shop' } }, t.signal);
  for (const namespace of ['default', 'kube-system', 'shop']) {
    await eventually(admin, serviceAccountKind, { namespace, name: 'default' }, isThere, t.signal);
    const map = await eventually(admin, configMapKind, { namespace, name: 'kube-root-ca.crt' }, isThere, t.signal);
    assert.deepEqual(map?.data, { 'ca.crt': 'THE CA' });
  }
});

test('a namespace with content goes, its content with it, and nothing of other namespaces', limits, async (t) => {
  const { admin } = await startControlPlane(t, { timings: { namespaceDelayMs: 50 } });
  await admin.create(namespaceKind, { metadata: { name: 'shop' } }, t.signal);
  await eventually(admin, serviceAccountKind, { namespace: 'shop', name: 'default' }, isThere, t.signal);
  await admin.create(nodeKind, { metadata: { name: 'node-1' } }, t.signal);
  await admin.create(podKind, aPodToBe('shop', 'web', 'node-1'), t.signal);
  await admin.create(configMapKind, { metadata: { namespace: 'shop', name: 'settings' } }, t.signal);
  await admin.create(configMapKind, { metadata: { namespace: 'default', name: 'settings' } }, t.signal);
  await admin.delete(namespaceKind, { name: 'shop' }, {}, t.signal);
  const held = await eventually(admin, namespaceKind, { name: 'shop' }, (found) => (found?.status?.conditions ?? []).length === 5, t.signal);
  assert.equal(held?.status?.phase, 'Terminating');
  const remaining = held?.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
  assert.equal(remaining?.message, 'Some resources are remaining: pods. has 1 resource instances');
  await admin.get(configMapKind, { namespace: 'shop', name: 'settings' }, t.signal);
  await admin.delete(podKind, { namespace: 'shop', name: 'web' }, { gracePeriodSeconds: 0 }, t.signal); // the kubelet's last word
  await eventually(admin, namespaceKind, { name: 'shop' }, isGone, t.signal);
  assert.deepEqual((await admin.list(configMapKind, { namespace: 'shop' }, t.signal)).items, []);
  await admin.get(configMapKind, { namespace: 'default', name: 'settings' }, t.signal);
});

test('a node whose lease is renewed stays; when that ends it is unreachable, and its pods are driven away', limits, async (t) => {
  const timings = { nodeGraceMs: 600, nodeStartupGraceMs: 600, nodeEvictionIntervalMs: 10 };
  const { admin } = await startControlPlane(t, { timings });
  await eventually(admin, serviceAccountKind, { namespace: 'default', name: 'default' }, isThere, t.signal);
  const kubelets = ['node-1', 'node-2'].map((name) => ({ name, stop: new AbortController() }));
  t.after(() => {
    for (const { stop } of kubelets) stop.abort();
  });
  for (const { name, stop } of kubelets) {
    const node = await admin.create(nodeKind, { metadata: { name } }, t.signal);
    await admin.patch(nodeKind, { name }, 'merge', { status: readyStatus }, 'status', t.signal);
    const owner = async () => ({ apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid });
    const options = { namespace: 'kube-node-lease', name, holderIdentity: name, durationSeconds: 1, renewEveryMs: 100, owner };
    void keepLease(admin, { ...options, clock: systemClock, logger: silentLogger }, stop.signal);
  }
  await admin.create(podKind, aPodToBe('default', 'web', 'node-1'), t.signal);
  await systemClock.sleep(1200, t.signal);
  const alive = await admin.get(nodeKind, { name: 'node-1' }, t.signal);
  assert.deepEqual(alive.spec?.taints ?? [], []);
  kubelets[0]?.stop.abort();
  const dead = await eventually(admin, nodeKind, { name: 'node-1' }, (node) => (node?.spec?.taints ?? []).length === 2, t.signal);
  const ready = dead?.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.']);
  assert.deepEqual((await admin.get(nodeKind, { name: 'node-2' }, t.signal)).spec?.taints ?? [], []);
  const pod = await admin.get(podKind, { namespace: 'default', name: 'web' }, t.signal);
  assert.equal(pod.metadata.deletionTimestamp, undefined, 'it tolerates this for five minutes');
  const conditions = [{ ...readyStatus.conditions[0], lastHeartbeatTime: '2030-01-01T00:05:00Z' }];
  await admin.patch(nodeKind, { name: 'node-1' }, 'merge', { status: { conditions } }, 'status', t.signal);
  await eventually(admin, nodeKind, { name: 'node-1' }, (node) => (node?.spec?.taints ?? []).length === 0, t.signal);
});

test('a taint that a pod does not tolerate drives it away at once', limits, async (t) => {
  const { admin } = await startControlPlane(t);
  await eventually(admin, serviceAccountKind, { namespace: 'default', name: 'default' }, isThere, t.signal);
  await admin.create(nodeKind, { metadata: { name: 'node-1' } }, t.signal);
  await admin.patch(nodeKind, { name: 'node-1' }, 'merge', { status: readyStatus }, 'status', t.signal);
  await admin.create(podKind, aPodToBe('default', 'web', 'node-1'), t.signal);
  await admin.patch(nodeKind, { name: 'node-1' }, 'merge', { spec: { taints: [{ key: 'repair', effect: 'NoExecute' }] } }, '', t.signal);
  const marked = await eventually(
    admin,
    podKind,
    { namespace: 'default', name: 'web' },
    (pod) => pod?.metadata.deletionTimestamp !== undefined,
    t.signal,
  );
  assert.equal(marked?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'DeletionByTaintManager');
});

test('pods of a node that is gone are removed after the quarantine', limits, async (t) => {
  const { admin } = await startControlPlane(t, { timings: { podGcIntervalMs: 50, orphanQuarantineMs: 200 } });
  await eventually(admin, serviceAccountKind, { namespace: 'default', name: 'default' }, isThere, t.signal);
  await admin.create(nodeKind, { metadata: { name: 'node-1' } }, t.signal);
  await admin.create(podKind, aPodToBe('default', 'web', 'node-1'), t.signal);
  await admin.delete(nodeKind, { name: 'node-1' }, {}, t.signal);
  await eventually(admin, podKind, { namespace: 'default', name: 'web' }, isGone, t.signal);
});

test('a claim stays while a pod of a node uses it, and goes with that pod; its volume stays while it is bound', limits, async (t) => {
  const { admin } = await startControlPlane(t);
  const claim = { namespace: 'default', name: 'data' };
  await admin.create(claimKind, { metadata: claim, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }, t.signal);
  await admin.create(
    volumeKind,
    { metadata: { name: 'disk' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nonexistent' } } },
    t.signal,
  );
  await admin.patch(volumeKind, { name: 'disk' }, 'merge', { status: { phase: 'Bound' } }, 'status', t.signal);
  await eventually(admin, serviceAccountKind, { namespace: 'default', name: 'default' }, isThere, t.signal);
  await admin.create(nodeKind, { metadata: { name: 'node-1' } }, t.signal);
  const user = aPodToBe('default', 'user', 'node-1');
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  await admin.create(podKind, { ...user, spec: { containers: [], ...user.spec, volumes } }, t.signal);
  await admin.delete(claimKind, claim, {}, t.signal);
  await admin.delete(volumeKind, { name: 'disk' }, {}, t.signal);
  // A second claim that goes at once tells that the controller has had its turn.
  const other = { namespace: 'default', name: 'unused' };
  await admin.create(claimKind, { metadata: other, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }, t.signal);
  await admin.delete(claimKind, other, {}, t.signal);
  await eventually(admin, claimKind, other, isGone, t.signal);
  assert.notEqual((await admin.get(claimKind, claim, t.signal)).metadata.deletionTimestamp, undefined);
  await admin.delete(podKind, { namespace: 'default', name: 'user' }, { gracePeriodSeconds: 0 }, t.signal);
  await eventually(admin, claimKind, claim, isGone, t.signal);
  assert.deepEqual((await admin.get(volumeKind, { name: 'disk' }, t.signal)).metadata.finalizers, ['kubernetes.io/pv-protection']);
  await admin.patch(volumeKind, { name: 'disk' }, 'merge', { status: { phase: 'Released' } }, 'status', t.signal);
  await eventually(admin, volumeKind, { name: 'disk' }, isGone, t.signal);
});

test('a budget lets one of two pods go, and the next when there is another', limits, async (t) => {
  const { admin } = await startControlPlane(t);
  const labels = { app: 'shop' };
  await eventually(admin, serviceAccountKind, { namespace: 'default', name: 'default' }, isThere, t.signal);
  await admin.create(nodeKind, { metadata: { name: 'node-1' } }, t.signal);
  const running = async (name: string) => {
    const pod = aPodToBe('default', name, 'node-1');
    await admin.create(podKind, { ...pod, metadata: { ...pod.metadata, labels } }, t.signal);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await admin.patch(podKind, { namespace: 'default', name }, 'merge', { status }, 'status', t.signal);
  };
  const evict = async (name: string) => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions: { gracePeriodSeconds: 0 } };
    await admin.createSubresource(podKind, { namespace: 'default', name }, 'eviction', eviction, t.signal);
  };
  const budget = { namespace: 'default', name: 'shop' };
  const allowed = (count: number) =>
    eventually(
      admin,
      budgetKind,
      budget,
      (found) => found?.status?.disruptionsAllowed === count && found.status.disruptedPods === undefined,
      t.signal,
    );
  await Promise.all(['a', 'b'].map(running));
  await admin.create(budgetKind, { metadata: budget, spec: { minAvailable: 1, selector: { matchLabels: labels } } }, t.signal);
  await allowed(1);
  await evict('a');
  await allowed(0);
  await assert.rejects(evict('b'), /Cannot evict pod as it would violate the pod's disruption budget\./);
  await running('c');
  await allowed(1);
  await evict('b');
});
