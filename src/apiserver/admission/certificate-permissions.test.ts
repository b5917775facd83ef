import assert from 'node:assert/strict';
import { test } from 'node:test';
import { janeRequest, kubeletRequest, mastersRequest } from '#api/certificates/testing/requests.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const kubeletSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const jane = { name: 'jane' };

const create = (
  api: InProcessServer,
  request: string,
  signerName = clientSigner,
  as?: { readonly name: string; readonly groups: readonly string[] },
) =>
  api.call('POST', requests, {
    body: { metadata: { name: 'a' }, spec: { request, signerName, usages: ['client auth'] } },
    ...(as === undefined ? {} : { as }),
  });

/** Lets jane update requests' approvals and statuses; what she may approve and sign is given with the names. */
async function letJane(api: InProcessServer, signers: readonly string[]): Promise<void> {
  const group = 'certificates.k8s.io';
  const rules = [
    {
      verbs: ['update', 'patch', 'get'],
      apiGroups: [group],
      resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
    },
    { verbs: ['approve', 'sign'], apiGroups: [group], resources: ['signers'], resourceNames: signers },
  ];
  await api.call('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'r' }, rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }];
  await api.call('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name: 'b' }, roleRef, subjects } });
}

const patch = (api: InProcessServer, subresource: string, type: string) => {
  const body = { status: { conditions: [{ type, status: 'True', reason: 'r', message: 'm' }] } };
  return api.call('PATCH', `${requests}/a/${subresource}`, { as: jane, body, headers: { 'content-type': 'application/merge-patch+json' } });
};

test('who approves, denies or signs must have the right to, for the signer or for its domain', async () => {
  for (const [signers, isAllowed] of [
    [[clientSigner], true],
    [['kubernetes.io/*'], true],
    [['example.com/*'], false],
  ] as const) {
    await using api = await inProcessServer();
    await letJane(api, signers);
    assert.equal((await create(api, janeRequest)).status, 201);
    const approved = await patch(api, 'approval', 'Approved');
    assert.equal(approved.status, isAllowed ? 200 : 403);
    const refusal = (what: string) =>
      `certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to ${what} requests with signerName "${clientSigner}"`;
    if (!isAllowed) {
      assert.equal(approved.body.message, refusal('approve'));
      assert.equal((await patch(api, 'status', 'Failed')).body.message, refusal('sign'));
    }
  }
});

test('nobody asks for a certificate of system:masters, of this signer', async () => {
  await using api = await inProcessServer();
  const { status, body } = await create(api, mastersRequest);
  assert.deepEqual(
    [status, body.message],
    [
      403,
      'certificatesigningrequests.certificates.k8s.io "a" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is ' +
        'not allowed',
    ],
  );
  assert.equal((await create(api, mastersRequest, 'example.com/other')).status, 201);
});

test('a node asks for certificates of its own name', async () => {
  await using api = await inProcessServer();
  const node = (name: string) => ({ name: `system:node:${name}`, groups: ['system:nodes'] });
  const other = await create(api, kubeletRequest, kubeletSigner, node('n2'));
  assert.match(other.body.message, /can only create a node CSR with CN=system:node:n2$/);
  assert.equal((await create(api, kubeletRequest, kubeletSigner, node('n1'))).status, 201);
});
