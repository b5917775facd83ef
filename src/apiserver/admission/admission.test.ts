import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '#api/testing/objects.ts';
import type { Pod, ServiceAccount } from '#api/types/core-v1.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { inProcessServer } from '../testing/in-process-server.ts';
import { tokenMountPath, withAccount } from './service-account.ts';

const pods = '/api/v1/namespaces/default/pods';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pod = (spec: object = {}) => ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });
const account = (more: Partial<ServiceAccount> = {}): ServiceAccount => ({
  ...{
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  },
  ...more,
});
/** Lets what was started come to its first wait. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
const specOf = ({ spec }: Pod) => spec ?? { containers: [] };

test("a pod gets its account's token where it looks for it", () => {
  const spec = specOf(withAccount(aPod(), 'robot', account(), 'abcde'));
  assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], ['robot', 'robot']);
  assert.deepEqual(spec.containers[0]?.volumeMounts, [{ name: 'kube-api-access-abcde', readOnly: true, mountPath: tokenMountPath }]);
  assert.deepEqual(spec.volumes, [
    {
      name: 'kube-api-access-abcde',
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
        ],
      },
    },
  ]);
});

test('no token where the pod, or the account and not the pod, wants none; a mount of its own is left alone', () => {
  const volumesOf = (given: Pod, of: ServiceAccount) => specOf(withAccount(given, 'robot', of, 'abcde')).volumes;
  const refusing = aPod({ spec: { automountServiceAccountToken: false } });
  const wanting = aPod({ spec: { automountServiceAccountToken: true } });
  const own = aPod({ spec: { containers: [aContainer({ volumeMounts: [{ name: 'mine', mountPath: tokenMountPath }] })] } });
  assert.equal(volumesOf(refusing, account()), undefined);
  assert.equal(volumesOf(aPod(), account({ automountServiceAccountToken: false })), undefined);
  assert.equal(volumesOf(wanting, account({ automountServiceAccountToken: false }))?.length, 1);
  assert.equal(volumesOf(own, account()), undefined);
});

test("the account's pull secrets are the pod's when it has none", () => {
  const of = account({ imagePullSecrets: [{ name: 'registry' }] });
  assert.deepEqual(specOf(withAccount(aPod(), 'robot', of, 'a')).imagePullSecrets, [{ name: 'registry' }]);
  const own = aPod({ spec: { imagePullSecrets: [{ name: 'own' }] } });
  assert.deepEqual(specOf(withAccount(own, 'robot', of, 'a')).imagePullSecrets, [{ name: 'own' }]);
});

test('a pod of an account that is not there is refused; the default one is waited for', async () => {
  const clock = new FakeClock();
  await using api = await inProcessServer({}, clock);
  const named = await api.call('POST', pods, { body: pod({ serviceAccountName: 'none' }) });
  assert.deepEqual(
    [named.status, named.body.message],
    [403, 'pods "p" is forbidden: error looking up service account default/none: serviceaccount "none" not found'],
  );
  const waiting = api.call('POST', pods, { body: pod() });
  await turn();
  await clock.advance(100);
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  await clock.advance(100);
  assert.equal((await waiting).status, 201);
  await api.call('DELETE', `${accounts}/default`);
  await api.call('DELETE', `${pods}/p`);
  const lost = api.call('POST', pods, { body: pod() });
  await turn();
  await clock.advance(2_000);
  assert.match((await lost).body.message, /serviceaccount "default" not found$/);
});

test("a pod's priority is its class's; another number beside the class is refused", async () => {
  await using api = await inProcessServer();
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  const created = await api.call('POST', `${pods}?dryRun=All`, { body: pod({ priorityClassName: 'system-node-critical' }) });
  assert.deepEqual([created.body.spec.priority, created.body.spec.preemptionPolicy], [2_000_001_000, 'PreemptLowerPriority']);
  const plain = await api.call('POST', `${pods}?dryRun=All`, { body: pod() });
  assert.deepEqual([plain.body.spec.priority, plain.body.spec.priorityClassName], [0, undefined]);
  const unknown = await api.call('POST', pods, { body: pod({ priorityClassName: 'none' }) });
  assert.equal(unknown.body.message, 'pods "p" is forbidden: no PriorityClass with name none was found');
  const own = await api.call('POST', pods, { body: pod({ priority: 7 }) });
  assert.match(own.body.message, /the integer value of priority \(7\) must not be provided in pod spec; priority admission controller computed 0/);
});

test('one priority class at most is the default, and it is the default', async () => {
  await using api = await inProcessServer();
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  await api.call('POST', classes, { body: { metadata: { name: 'usual' }, value: 5, globalDefault: true } });
  const second = await api.call('POST', classes, { body: { metadata: { name: 'other' }, value: 6, globalDefault: true } });
  assert.deepEqual(
    [second.status, /PriorityClass usual is already marked as default\. Only one default can exist$/.test(second.body.message)],
    [403, true],
  );
  const created = await api.call('POST', `${pods}?dryRun=All`, { body: pod() });
  assert.deepEqual([created.body.spec.priority, created.body.spec.priorityClassName], [5, 'usual']);
});

test('a pod stays five minutes on a node in trouble unless it says otherwise', async () => {
  await using api = await inProcessServer();
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  const { body } = await api.call('POST', `${pods}?dryRun=All`, { body: pod({ tolerations: [own] }) });
  assert.deepEqual(body.spec.tolerations, [own, { ...own, key: 'node.kubernetes.io/unreachable', tolerationSeconds: 300 }]);
});

test('an update that names other tolerations keeps those', async () => {
  await using api = await inProcessServer();
  await api.call('POST', accounts, { body: { metadata: { name: 'default' } } });
  const created = await api.call('POST', pods, { body: pod() });
  const another = { key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' };
  const next = { ...created.body, spec: { ...created.body.spec, tolerations: [another] } };
  const { status, body } = await api.call('PUT', `${pods}/${created.body.metadata.name}`, { body: next });
  assert.deepEqual([status, body.spec.tolerations], [200, [another, ...created.body.spec.tolerations]]);
});
