import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { test } from 'node:test';
import { janeRequest, kubeletRequest } from '#api/certificates/testing/requests.ts';
import { type InProcessServer, inProcessServer } from '#apiserver/testing/in-process-server.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { runControllers } from '../controllers.ts';

setMaxListeners(0); // as the control plane: one signal ends all controllers

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const usages = ['digital signature', 'client auth'];

async function withControllers(work: (api: InProcessServer, signal: AbortSignal) => Promise<void>): Promise<void> {
  await using api = await inProcessServer();
  const stop = new AbortController();
  const clientAs = (name: string, groups: readonly string[] = []) => createClient(api.server.transportAs({ name, groups }));
  const clients = {
    reading: clientAs('system:kube-controller-manager'),
    as: (account: string) => clientAs(`system:serviceaccount:kube-system:${account}`, ['system:serviceaccounts']),
  };
  const signing = { token: async () => 'TOKEN', certificate: async () => '-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n' };
  const ended = runControllers(clients, { clock: systemClock, logger: silentLogger, rootCaPem: 'CA', signing }, stop.signal);
  try {
    await work(api, stop.signal);
  } finally {
    stop.abort();
    await ended;
  }
}

const bind = (api: InProcessServer, name: string, role: string, group: string) =>
  api.call('POST', bindings, {
    body: {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    },
  });

/** The request when it has its certificate. */
async function issued(api: InProcessServer, name: string, signal: AbortSignal) {
  for await (const { object } of api.watch(`${requests}?watch=1&fieldSelector=metadata.name%3D${name}`, signal)) {
    if ((object.status?.certificate ?? '') !== '') return object;
  }
  throw new Error('the watch ended');
}

test("a kubelet's first certificate is approved for bootstrappers, its next ones for itself, when roles say so", () =>
  withControllers(async (api, signal) => {
    const [first, own] = [
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    ];
    await bind(api, 'first', first, 'system:bootstrappers');
    await bind(api, 'own', own, 'system:nodes');
    await bind(api, 'ask', 'system:node-bootstrapper', 'system:bootstrappers');
    const spec = { request: kubeletRequest, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages };
    const as = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
    assert.equal((await api.call('POST', requests, { as, body: { metadata: { name: 'first' }, spec } })).status, 201);
    const node = { name: 'system:node:n1', groups: ['system:nodes'] };
    assert.equal((await api.call('POST', requests, { as: node, body: { metadata: { name: 'own' }, spec } })).status, 201);
    const decisionOf = async (name: string) => {
      const [{ type, reason, message }] = (await issued(api, name, signal)).status.conditions;
      return [type, reason, message];
    };
    const after = 'kubelet client certificate after SubjectAccessReview.';
    assert.deepEqual(await decisionOf('first'), ['Approved', 'AutoApproved', `Auto approving ${after}`]);
    assert.deepEqual(await decisionOf('own'), ['Approved', 'AutoApproved', `Auto approving self ${after}`]);
  }));

test('a request that its signer does not take fails, and says why', () =>
  withControllers(async (api, signal) => {
    const spec = { request: janeRequest, signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] };
    await api.call('POST', requests, { body: { metadata: { name: 'a' }, spec } });
    const condition = { type: 'Approved', status: 'True', reason: 'r', message: 'm' };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await api.call('PATCH', `${requests}/a/approval`, { headers, body: { status: { conditions: [condition] } } });
    for await (const { object } of api.watch(`${requests}?watch=1`, signal)) {
      const failure = (object.status?.conditions ?? []).find(({ type }: { readonly type: string }) => type === 'Failed');
      if (failure === undefined) continue;
      assert.deepEqual([failure.reason, failure.message], ['SignerValidationFailure', 'subject organization is not system:nodes']);
      return;
    }
  }));

test('a Secret for a token is filled, and goes with its account', () =>
  withControllers(async (api, signal) => {
    const inDefault = '/api/v1/namespaces/default';
    await api.call('POST', `${inDefault}/serviceaccounts`, { body: { metadata: { name: 'robot' } } });
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const body = { metadata: { name: 's', annotations }, type: 'kubernetes.io/service-account-token' };
    await api.call('POST', `${inDefault}/secrets`, { body });
    for await (const { type, object } of api.watch(`${inDefault}/secrets?watch=1`, signal)) {
      if (type === 'DELETED') return;
      if (object.data?.token === undefined) continue;
      assert.deepEqual(object.data, { token: 'VE9LRU4=', 'ca.crt': 'Q0E=', namespace: 'ZGVmYXVsdA==' });
      await api.call('DELETE', `${inDefault}/serviceaccounts/robot`);
    }
    assert.fail('the Secret stayed');
  }));
