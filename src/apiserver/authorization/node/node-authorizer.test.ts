import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InProcessServer, inProcessServer } from '../../testing/in-process-server.ts';

const node = (name: string) => ({ name: `system:node:${name}`, groups: ['system:nodes'] });
const inDefault = '/api/v1/namespaces/default';

async function withServer(work: (api: InProcessServer) => Promise<void>): Promise<void> {
  await using api = await inProcessServer();
  await api.call('POST', `${inDefault}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
  await work(api);
}

async function place(api: InProcessServer, name: string, nodeName: string, spec: object = {}, metadata: object = {}): Promise<void> {
  const body = { metadata: { name, ...metadata }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec } };
  const { status, body: answer } = await api.call('POST', `${inDefault}/pods`, { body });
  assert.equal(status, 201, answer.message);
}

/** What a request of a node is refused with; '' when it is not. */
async function refusalOf(api: InProcessServer, method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, as = node('n1')): Promise<string> {
  const { status, body } = await api.call(method, url, { as, body: method === 'GET' || method === 'DELETE' ? undefined : {} });
  if (status !== 403 || !/ cannot \w+ (resource|path) /.test(body.message)) return '';
  return /(?:at the cluster scope|in the namespace "[^"]*")(?:: )?(.*)$/s.exec(body.message)?.[1] ?? body.message;
}

const unrelated = "no relationship found between node 'n1' and this object";

test('a node reads what its pods name, from the moment in which they are bound until they are gone', () =>
  withServer(async (api) => {
    const secret = `${inDefault}/secrets/s`;
    const body = {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    };
    await api.call('POST', `${inDefault}/pods`, { body });
    assert.equal(await refusalOf(api, 'GET', secret), unrelated);
    await api.call('POST', `${inDefault}/pods/p/binding`, { body: { metadata: { name: 'p' }, target: { name: 'n1' } } });
    assert.equal(await refusalOf(api, 'GET', secret), '');
    assert.equal(await refusalOf(api, 'GET', secret, node('n2')), unrelated.replace('n1', 'n2'));
    await place(api, 'q', 'n1', { volumes: [{ name: 'v', secret: { secretName: 's' } }] });
    await api.call('DELETE', `${inDefault}/pods/p?gracePeriodSeconds=0`);
    assert.equal(await refusalOf(api, 'GET', secret), '');
    await api.call('DELETE', `${inDefault}/pods/q?gracePeriodSeconds=0`);
    assert.equal(await refusalOf(api, 'GET', secret), unrelated);
  }));

test('every way of naming an object leads to it', () =>
  withServer(async (api) => {
    await place(api, 'p', 'n1', {
      serviceAccountName: 'default',
      imagePullSecrets: [{ name: 'pull' }],
      containers: [
        {
          ...{ name: 'c', image: 'i' },
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } },
            { name: 'B', valueFrom: { configMapKeyRef: { name: 'env', key: 'k' } } },
          ],
          envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'from' } }],
        },
      ],
      volumes: [
        { name: 'a', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
        { name: 'b', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
        { name: 'c', configMap: { name: 'volume' } },
        { name: 'd', persistentVolumeClaim: { claimName: 'claim' } },
        { name: 'e', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } } } },
      ],
    });
    const named = {
      secrets: ['pull', 'env', 'from', 'projected', 'csi'],
      configmaps: ['env', 'from', 'projected', 'volume', 'kube-root-ca.crt'],
      persistentvolumeclaims: ['claim', 'p-e'],
      serviceaccounts: ['default'],
      pods: ['p'],
    };
    for (const [resource, names] of Object.entries(named)) {
      for (const name of names) assert.equal(await refusalOf(api, 'GET', `${inDefault}/${resource}/${name}`), '', `${resource} ${name}`);
      assert.equal(await refusalOf(api, 'GET', `${inDefault}/${resource}/other`), unrelated);
    }
    assert.equal(await refusalOf(api, 'POST', `${inDefault}/serviceaccounts/default/token`), '');
    assert.equal(await refusalOf(api, 'POST', `${inDefault}/serviceaccounts/other/token`), unrelated);
  }));

test('single secrets and config maps are listed and watched by their name', () =>
  withServer(async (api) => {
    await place(api, 'p', 'n1', { volumes: [{ name: 'v', secret: { secretName: 's' } }] });
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets?fieldSelector=metadata.name%3Ds`), '');
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets?fieldSelector=metadata.name%3Dt`), unrelated);
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets`), 'No Object name found');
    assert.equal(await refusalOf(api, 'GET', '/api/v1/secrets'), 'can only read namespaced object of this type');
    assert.equal(await refusalOf(api, 'DELETE', `${inDefault}/secrets/s`), 'can only read resources of this type');
    assert.equal(await refusalOf(api, 'POST', `${inDefault}/configmaps`), 'can only read resources of this type');
  }));

test('a claim leads to the volume that it is bound to, and to the secrets of that volume that kubelets read', () =>
  withServer(async (api) => {
    const csi = {
      ...{ driver: 'd', volumeHandle: 'h' },
      nodeStageSecretRef: { namespace: 'default', name: 'stage' },
      controllerPublishSecretRef: { namespace: 'default', name: 'controller' },
    };
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'claim' };
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi, claimRef };
    const { status, body } = await api.call('POST', '/api/v1/persistentvolumes', { body: { metadata: { name: 'v' }, spec } });
    assert.equal(status, 201, body.message);
    assert.equal(await refusalOf(api, 'GET', '/api/v1/persistentvolumes/v'), unrelated);
    await place(api, 'p', 'n1', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'claim' } }] });
    assert.equal(await refusalOf(api, 'GET', '/api/v1/persistentvolumes/v'), '');
    assert.equal(await refusalOf(api, 'GET', '/api/v1/persistentvolumes'), 'can only get individual resources of this type');
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets/stage`), '');
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets/controller`), unrelated);
    const claimStatus = `${inDefault}/persistentvolumeclaims/claim/status`;
    assert.equal(await refusalOf(api, 'PATCH', claimStatus), '');
    assert.equal(await refusalOf(api, 'GET', claimStatus), 'can only get/update/patch this type');
    await api.call('DELETE', `${inDefault}/pods/p?gracePeriodSeconds=0`);
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets/stage`), unrelated);
  }));

test('an attachment and a CSINode are for the node that they name', () =>
  withServer(async (api) => {
    const attachments = '/apis/storage.k8s.io/v1/volumeattachments';
    const spec = { attacher: 'd', nodeName: 'n1', source: { persistentVolumeName: 'v' } };
    const { status, body } = await api.call('POST', attachments, { body: { metadata: { name: 'a' }, spec } });
    assert.equal(status, 201, body.message);
    assert.equal(await refusalOf(api, 'GET', `${attachments}/a`), '');
    assert.equal(await refusalOf(api, 'GET', `${attachments}/a`, node('n2')), unrelated.replace('n1', 'n2'));
    assert.equal(await refusalOf(api, 'GET', attachments), 'can only get individual resources of this type');
    const csiNodes = '/apis/storage.k8s.io/v1/csinodes';
    assert.equal(await refusalOf(api, 'GET', `${csiNodes}/n1`), '');
    assert.equal(await refusalOf(api, 'GET', `${csiNodes}/n2`), 'can only access CSINode with the same name as the requesting node');
    assert.equal(await refusalOf(api, 'GET', csiNodes), 'can only get, create, update, patch, or delete a CSINode');
  }));

test('a mirror pod leads to nothing but itself', () =>
  withServer(async (api) => {
    const annotations = { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'x' };
    await place(api, 'p', 'n1', { volumes: [{ name: 'v', hostPath: { path: '/x' } }], imagePullSecrets: [{ name: 's' }] }, { annotations });
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/secrets/s`), unrelated);
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/pods/p`), '');
  }));

test('a node sees its own pods, and may write what admission looks at', () =>
  withServer(async (api) => {
    await place(api, 'p', 'n1');
    await place(api, 'q', 'n2');
    const all = '/api/v1/pods';
    assert.equal(await refusalOf(api, 'GET', `${all}?fieldSelector=spec.nodeName%3Dn1`), '');
    const needsSelector = 'can only list/watch pods with spec.nodeName field selector';
    assert.equal(await refusalOf(api, 'GET', `${all}?fieldSelector=spec.nodeName%3Dn2`), needsSelector);
    assert.equal(await refusalOf(api, 'GET', `${all}?fieldSelector=spec.nodeName%21%3Dn1`), needsSelector);
    assert.equal(await refusalOf(api, 'GET', all), needsSelector);
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/pods/q`), unrelated);
    assert.equal(await refusalOf(api, 'GET', `${inDefault}/pods?fieldSelector=metadata.name%3Dp`), '');
    assert.equal(await refusalOf(api, 'PATCH', `${inDefault}/pods/p/status`), '');
    for (const url of [`${inDefault}/pods/p`, `${inDefault}/pods/p/ephemeralcontainers`]) {
      const { status } = await api.call('PATCH', url, { as: node('n1'), body: {} });
      assert.equal(status, 403, url);
    }
  }));

test('a node reads itself, whether it is there or not', () =>
  withServer(async (api) => {
    assert.equal(await refusalOf(api, 'GET', '/api/v1/nodes/n1'), '');
    assert.equal(await refusalOf(api, 'GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dn1'), '');
    assert.equal(await refusalOf(api, 'GET', '/api/v1/nodes/n2'), "node 'n1' cannot read 'n2', only its own Node object");
    assert.equal(await refusalOf(api, 'GET', '/api/v1/nodes'), "node 'n1' cannot read all nodes, only its own Node object");
    assert.equal((await api.call('DELETE', '/api/v1/nodes/n1', { as: node('n1') })).status, 403);
  }));

test('leases are its own, in their namespace', () =>
  withServer(async (api) => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    assert.equal(await refusalOf(api, 'GET', `${leases}/n1`), '');
    assert.equal(await refusalOf(api, 'POST', leases), '');
    assert.equal(await refusalOf(api, 'GET', `${leases}/n2`), 'can only access node lease with the same name as the requesting node');
    assert.equal(await refusalOf(api, 'GET', leases), 'can only get, create, update, patch, or delete a node lease');
    const elsewhere = '/apis/coordination.k8s.io/v1/namespaces/default/leases/n1';
    assert.equal(await refusalOf(api, 'GET', elsewhere), 'can only access leases in the "kube-node-lease" system namespace');
  }));

test('what has no place in the graph follows fixed rules, and others are left to the next authorizer', () =>
  withServer(async (api) => {
    for (const url of ['/api/v1/services', '/apis/node.k8s.io/v1/runtimeclasses']) assert.equal(await refusalOf(api, 'GET', url), '', url);
    assert.equal(await refusalOf(api, 'POST', `${inDefault}/events`), '');
    assert.equal(
      await refusalOf(api, 'GET', '/api/v1/services', { name: 'system:node:', groups: ['system:nodes'] }),
      'unknown node for user "system:node:"',
    );
    assert.equal((await api.call('GET', '/api/v1/services', { as: { name: 'system:node:n9', groups: [] } })).status, 403);
    assert.equal((await api.call('GET', '/api/v1/namespaces', { as: node('n1') })).status, 403);
  }));
