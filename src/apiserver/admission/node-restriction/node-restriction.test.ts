import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InProcessServer, inProcessServer } from '../../testing/in-process-server.ts';

const as = { name: 'system:node:n1', groups: ['system:nodes'] };
const inDefault = '/api/v1/namespaces/default';
const pods = `${inDefault}/pods`;
const patch = { 'content-type': 'application/merge-patch+json' };

interface Setting {
  readonly api: InProcessServer;
  readonly nodeUid: string;
  /** Status and message of what the node n1 is answered. */
  call(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object): Promise<readonly [number, string]>;
}

async function withNode(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using api = await inProcessServer();
  await api.call('POST', `${inDefault}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
  const { body } = await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
  const call: Setting['call'] = async (method, url, sent) => {
    const answer = await api.call(method, url, { as, body: sent, headers: method === 'PATCH' ? patch : {} });
    return [answer.status, answer.body.message ?? ''];
  };
  await work({ api, nodeUid: body.metadata.uid, call });
}

async function place(api: InProcessServer, name: string, nodeName: string, spec: object = {}): Promise<string> {
  const body = { metadata: { name }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec } };
  return (await api.call('POST', pods, { body })).body.metadata.uid;
}

test('a node without a name is told so', async () => {
  await using api = await inProcessServer();
  const nameless = { name: 'system:node:', groups: ['system:nodes', 'system:masters'] };
  const { status, body } = await api.call('POST', '/api/v1/namespaces/default/configmaps', { as: nameless, body: { metadata: { name: 'c' } } });
  assert.deepEqual([status, body.message], [403, 'configmaps "c" is forbidden: could not determine node from user "system:node:"']);
});

test('a node creates mirror pods that it owns, and that lead to nothing', () =>
  withNode(async ({ nodeUid, call }) => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: nodeUid, controller: true };
    const mirror = (metadata: object = {}, spec: object = {}) => ({
      metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    const refusals: readonly (readonly [object, string])[] = [
      [
        mirror({ annotations: {} }, { automountServiceAccountToken: false }),
        'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
      ],
      [mirror({}, { nodeName: 'n2' }), 'node "n1" can only create pods with spec.nodeName set to itself'],
      [mirror({ ownerReferences: [] }), 'node "n1" can only create pods with an owner reference set to itself'],
      [mirror({ ownerReferences: [{ ...owner, name: 'n2' }] }), 'node "n1" can only create pods with an owner reference set to itself'],
      [mirror({ ownerReferences: [owner, { ...owner, uid: 'x' }] }), 'node "n1" can only create pods with a single owner reference set to itself'],
      [
        mirror({ ownerReferences: [{ ...owner, controller: false }] }),
        'node "n1" can only create pods with a controller owner reference set to itself',
      ],
      [mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }), 'node "n1" must not set blockOwnerDeletion on an owner reference'],
      [mirror({ ownerReferences: [{ ...owner, uid: 'x' }] }), `node n1 UID mismatch: expected ${nodeUid} got x`],
      [mirror({}, { imagePullSecrets: [{ name: 's' }] }), 'node "n1" can not create pods that reference secrets'],
      [mirror({}, { volumes: [{ name: 'v', configMap: { name: 'c' } }] }), 'node "n1" can not create pods that reference configmaps'],
      [
        mirror({}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
        'node "n1" can not create pods that reference persistentvolumeclaims',
      ],
      [mirror({}, { volumes: [{ name: 'v', csi: { driver: 'd' } }] }), 'node "n1" can not create pods that reference csidrivers (via CSI volumes)'],
      [
        mirror({}, { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
        'node "n1" can not create pods that reference serviceaccounts (via projected volumes)',
      ],
    ];
    for (const [body, detail] of refusals) {
      const [status, message] = await call('POST', pods, body);
      // A pod of an account comes to the account's own admission first.
      if (detail.startsWith('pod does not')) assert.equal(message, `pods "m" is forbidden: ${detail}`);
      else assert.deepEqual([status, message], [403, `pods "m" is forbidden: ${detail}`]);
    }
    assert.deepEqual(await call('POST', pods, mirror()), [201, '']);
  }));

test('a node ends and reports on its own pods', () =>
  withNode(async ({ api, call }) => {
    await place(api, 'mine', 'n1');
    await place(api, 'other', 'n2');
    const status = { status: { phase: 'Running' } };
    assert.deepEqual(await call('PATCH', `${pods}/mine/status`, status), [200, '']);
    const forbidden = (name: string, detail: string) => [403, `pods "${name}" is forbidden: ${detail}`];
    assert.deepEqual(
      await call('PATCH', `${pods}/other/status`, status),
      forbidden('other', 'node "n1" can only update pod status for pods with spec.nodeName set to itself'),
    );
    assert.deepEqual(
      await call('PATCH', `${pods}/mine/status`, { metadata: { labels: { a: 'b' } } }),
      forbidden('mine', 'node "n1" cannot update labels through pod status'),
    );
    assert.deepEqual(
      await call('PATCH', `${pods}/mine/status`, { status: { resourceClaimStatuses: [{ name: 'a', resourceClaimName: 'b' }] } }),
      forbidden('mine', 'node "n1" cannot update resource claim statues'),
    );
    assert.deepEqual(await call('DELETE', `${pods}/other`), forbidden('other', 'node "n1" can only delete pods with spec.nodeName set to itself'));
    const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    assert.deepEqual(
      await call('POST', `${pods}/other/eviction`, eviction('other')),
      forbidden('other', 'node n1 can only evict pods with spec.nodeName set to itself'),
    );
    assert.deepEqual(await call('POST', `${pods}/mine/eviction`, eviction('mine')), [201, '']);
    assert.equal((await call('DELETE', `${pods}/mine?gracePeriodSeconds=0`))[0], 200);
  }));

test('a node writes itself, but neither its taints nor its owners nor labels that steer pods', () =>
  withNode(async ({ api, call }) => {
    const forbidden = (detail: string, name = 'n1') => [403, `nodes "${name}" is forbidden: ${detail}`];
    assert.deepEqual(
      await call('POST', '/api/v1/nodes', { metadata: { name: 'n2' } }),
      forbidden('node "n1" is not allowed to modify node "n2"', 'n2'),
    );
    await api.call('DELETE', '/api/v1/nodes/n1');
    const labels = {
      'kubernetes.io/hostname': 'n1',
      'x.node.kubernetes.io/a': '1',
      'kubelet.kubernetes.io/b': '1',
      'example.com/c': '1',
      'topology.kubernetes.io/zone': 'z',
    };
    const reserved = { 'node-restriction.kubernetes.io/z': '1', 'node-role.kubernetes.io/control-plane': '', 'a.k8s.io/y': '1' };
    assert.deepEqual(
      await call('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels: { ...labels, ...reserved } } }),
      forbidden(
        'node "n1" is not allowed to set the following labels: a.k8s.io/y, node-restriction.kubernetes.io/z, node-role.kubernetes.io/control-plane',
      ),
    );
    assert.deepEqual(
      await call('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
      [201, ''],
    );
    const node = '/api/v1/nodes/n1';
    assert.deepEqual(await call('PATCH', node, { metadata: { labels: { 'kubernetes.io/hostname': 'other', mine: '1' } } }), [200, '']);
    assert.deepEqual(await call('PATCH', `${node}/status`, { status: { conditions: [] } }), [200, '']);
    assert.deepEqual(await call('PATCH', node, { metadata: { labels: reserved } }), [
      403,
      'nodes "n1" is forbidden: is not allowed to modify labels: a.k8s.io/y, node-restriction.kubernetes.io/z, node-role.kubernetes.io/control-plane',
    ]);
    assert.deepEqual(await call('PATCH', node, { spec: { taints: [] } }), forbidden('node "n1" is not allowed to modify taints'));
    assert.deepEqual(await call('PATCH', `${node}/status`, { spec: { taints: [] } }), forbidden('node "n1" is not allowed to modify taints'));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'x' }];
    assert.deepEqual(await call('PATCH', node, { metadata: { ownerReferences } }), forbidden('node "n1" is not allowed to modify ownerReferences'));
  }));

test("a node asks for tokens of its own pods, for those whom the pod's volumes name", () =>
  withNode(async ({ api, call }) => {
    const sources = [{ serviceAccountToken: { path: 't', audience: 'vault' } }];
    const uid = await place(api, 'mine', 'n1', { volumes: [{ name: 'v', projected: { sources } }] });
    const other = await place(api, 'other', 'n2');
    const token = `${inDefault}/serviceaccounts/default/token`;
    const wanted = (ref: object | undefined, audiences?: readonly string[]) => call('POST', token, { spec: { boundObjectRef: ref, audiences } });
    const mine = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid };
    const refused = (detail: string) => [403, `serviceaccounts "default" is forbidden: ${detail}`];
    assert.deepEqual(await wanted(mine), [201, '']);
    assert.deepEqual(await wanted(mine, ['vault']), [201, '']);
    assert.deepEqual(await wanted(undefined), refused('node requested token not bound to a pod'));
    assert.deepEqual(await wanted({ ...mine, kind: 'Secret' }), refused('node requested token not bound to a pod'));
    assert.deepEqual(await wanted({ ...mine, uid: '' }), refused('node requested token with a pod binding without a uid'));
    assert.deepEqual(
      await wanted({ ...mine, uid: 'x' }),
      refused('the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated'),
    );
    assert.deepEqual(
      await wanted({ ...mine, name: 'other', uid: other }),
      refused('node requested token bound to a pod scheduled on a different node'),
    );
    assert.deepEqual(await wanted(mine, ['vault', 'x']), refused('node may only request 0 or 1 audiences'));
    assert.deepEqual(
      await wanted(mine, ['x']),
      refused('audience "x" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience'),
    );
  }));

test('a driver of a volume gets the tokens that it asks for', () =>
  withNode(async ({ api, call }) => {
    const drivers = '/apis/storage.k8s.io/v1/csidrivers';
    const driver = { metadata: { name: 'd' }, spec: { tokenRequests: [{ audience: 'cloud' }] } };
    assert.equal((await api.call('POST', drivers, { body: driver })).status, 201);
    const uid = await place(api, 'mine', 'n1', { volumes: [{ name: 'v', csi: { driver: 'd' } }] });
    const wanted = (audience: string) =>
      call('POST', `${inDefault}/serviceaccounts/default/token`, {
        spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid }, audiences: [audience] },
      });
    assert.deepEqual(await wanted('cloud'), [201, '']);
    assert.equal((await wanted('other'))[0], 403);
  }));

test('a node has one lease, of its own name', () =>
  withNode(async ({ call }) => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    assert.deepEqual(await call('POST', leases, { metadata: { name: 'n2' } }), [
      403,
      'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
    ]);
    assert.deepEqual(await call('POST', leases, { metadata: { name: 'n1' } }), [201, '']);
  }));

test("a node tells of a claim's capacity and conditions, and of nothing else", () =>
  withNode(async ({ api, call }) => {
    const claims = `${inDefault}/persistentvolumeclaims`;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    assert.equal((await api.call('POST', claims, { body: { metadata: { name: 'c' }, spec } })).status, 201);
    await place(api, 'mine', 'n1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] });
    assert.deepEqual(await call('PATCH', `${claims}/c/status`, { status: { capacity: { storage: '1Gi' } } }), [200, '']);
    const [status, message] = await call('PATCH', `${claims}/c/status`, { metadata: { labels: { a: 'b' } } });
    assert.equal(status, 403);
    assert.match(message, /node "n1" is not allowed to update fields other than status\.quantity and status\.conditions: metadata$/);
  }));

test('a new node gets no pods until it is seen ready', async () => {
  await using api = await inProcessServer();
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const taintsOf = async (name: string, taints?: readonly object[]) =>
    (await api.call('POST', '/api/v1/nodes', { body: { metadata: { name }, spec: { taints } } })).body.spec.taints;
  assert.deepEqual(await taintsOf('n1'), [notReady]);
  assert.deepEqual(await taintsOf('n2', [notReady]), [notReady]);
  assert.deepEqual(await taintsOf('n3', [{ key: 'a', effect: 'NoExecute' }]), [{ key: 'a', effect: 'NoExecute' }, notReady]);
});
