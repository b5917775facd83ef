import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { certificateRequest } from '../support/certificate-request.ts';
import { outputOf } from '../support/kubectl.ts';
import { apply, busybox, sleeper, waitForPod } from '../support/pods.ts';
import { requestsTo } from '../support/requests.ts';
import { startCluster } from '../support/start-cluster.ts';

/** Upstream’s conformance tests of identity and events, told again; each test has the name of upstream’s. */
const cluster = await startCluster();
const { kubectl } = cluster;
const api = await requestsTo(cluster.kubeconfig);
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
type Any = any;

async function succeeded(call: ReturnType<typeof api.call>, status: number): Promise<Any> {
  const answer = await call;
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}
const get = async (path: string) => await succeeded(api.call('GET', path), 200);
const create = async (path: string, body: object) => await succeeded(api.call('POST', path, { body }), 201);
const replace = async (path: string, body: object) => await succeeded(api.call('PUT', path, { body }), 200);
const patch = async (path: string, body: object, headers = strategic) => await succeeded(api.call('PATCH', path, { headers, body }), 200);
const remove = async (path: string) => await succeeded(api.call('DELETE', path), 200);
const namesOf = (list: Any): string[] => list.items.map(({ metadata }: Any) => metadata.name);
const out = async (words: string | readonly string[], options = {}) => outputOf(await kubectl(words, options));

async function namespace(name: string): Promise<string> {
  await create('/api/v1/namespaces', { metadata: { name } });
  await api.watch(`/api/v1/namespaces/${name}/serviceaccounts?watch=1&fieldSelector=metadata.name%3Ddefault`, ({ type }) => type === 'ADDED');
  return `/api/v1/namespaces/${name}`;
}

/** What the holder of a pod’s token and certificate authority reads, and nothing else. */
async function bearer(token: string, ca: string): Promise<(path: string) => Promise<string>> {
  const server = api.config.getCurrentCluster()?.server ?? '';
  return async (path) => {
    const sent = request(new URL(path, server), { ca, headers: { authorization: `Bearer ${token}` } }).end();
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    assert.equal(answer?.statusCode, 200);
    return answer === undefined ? '' : await text(answer);
  };
}

test('Certificates API should support CSR API operations', async () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const discovered = await get('/apis/certificates.k8s.io/v1');
  const served = discovered.resources.map(({ name }: Any) => name);
  for (const part of ['', '/approval', '/status']) assert.ok(served.includes(`certificatesigningrequests${part}`), part);
  const signerName = 'example.com/e2e-auth';
  const template = (n: number) => ({
    metadata: { name: `e2e-${n}`, labels: { set: 'csr' } },
    spec: { request: certificateRequest, signerName, usages: ['digital signature', 'key encipherment', 'server auth'], expirationSeconds: 3600 },
  });
  const before = await get(path);
  const made = [await create(path, template(1)), await create(path, template(2)), await create(path, template(3))];
  const one = `${path}/${made[0].metadata.name}`;
  assert.equal((await get(one)).metadata.uid, made[0].metadata.uid);
  assert.deepEqual(namesOf(await get(`${path}?fieldSelector=spec.signerName%3D${encodeURIComponent(signerName)}`)), ['e2e-1', 'e2e-2', 'e2e-3']);
  const watched = `${path}?watch=1&labelSelector=set%3Dcsr&resourceVersion=${before.metadata.resourceVersion}`;
  const patched = await patch(one, { metadata: { annotations: { patched: 'true' } } }, merge);
  const updated = await replace(one, {
    ...patched,
    metadata: { ...patched.metadata, annotations: { ...patched.metadata.annotations, updated: 'true' } },
  });
  assert.deepEqual(updated.metadata.annotations, { patched: 'true', updated: 'true' });
  const events = await api.watch(watched, ({ object }) => object.metadata.annotations?.updated === 'true');
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'ADDED', 'ADDED', 'MODIFIED', 'MODIFIED'],
  );

  assert.equal((await get(`${one}/approval`)).metadata.uid, updated.metadata.uid);
  const approving = {
    metadata: { annotations: { patchedapproval: 'true' } },
    status: { conditions: [{ type: 'ApprovalPatch', status: 'True', reason: 'e2e' }] },
  };
  const approved = await patch(`${one}/approval`, approving, merge);
  assert.deepEqual([approved.status.conditions.length, approved.metadata.annotations.patchedapproval], [1, 'true']);
  const conditions = [...approved.status.conditions, { type: 'Approved', status: 'True', reason: 'E2E', message: 'Set from an e2e test' }];
  const twice = await replace(`${one}/approval`, { ...approved, status: { conditions } });
  assert.deepEqual([twice.status.conditions[1].type, typeof twice.status.conditions[1].lastTransitionTime], ['Approved', 'string']);

  assert.equal((await get(`${one}/status`)).metadata.uid, updated.metadata.uid);
  const config = await get('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
  const certificate = Buffer.from(config.data['ca.crt']).toString('base64');
  const signed = await patch(`${one}/status`, { metadata: { annotations: { patchedstatus: 'true' } }, status: { certificate } }, merge);
  assert.deepEqual([signed.status.certificate, signed.metadata.annotations.patchedstatus], [certificate, 'true']);
  const status = {
    ...signed.status,
    conditions: [...signed.status.conditions, { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'x' }],
  };
  assert.equal((await replace(`${one}/status`, { ...signed, status })).status.conditions.at(-1).type, 'StatusUpdate');

  await remove(one);
  assert.equal((await api.call('GET', one)).status, 404);
  await remove(`${path}?fieldSelector=spec.signerName%3D${encodeURIComponent(signerName)}`);
  assert.deepEqual(namesOf(await get(`${path}?labelSelector=set%3Dcsr`)), []);
});

test('ServiceAccounts should mount an API token into pods, a projected one too, which opens the discovery of the issuer', async () => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  const projected = {
    name: 'own',
    projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'https://own.example.com', expirationSeconds: 600 } }] },
  };
  const mounted = sleeper('token-user', { volumes: [projected] }, { volumeMounts: [{ name: 'own', mountPath: '/own' }] });
  await apply(kubectl, mounted);
  await waitForPod(kubectl, 'token-user');
  const inside = async (script: string) => await out(['exec', 'token-user', '--', 'sh', '-c', script]);
  assert.equal(await inside(`cat ${folder}/namespace`), 'default');
  const config = await get('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
  assert.equal(await inside(`cat ${folder}/ca.crt`), config.data['ca.crt']);
  const token = await inside(`cat ${folder}/token`);
  const review = await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
  assert.deepEqual([review.status.authenticated, review.status.user.username], [true, 'system:serviceaccount:default:default']);
  assert.deepEqual(review.status.user.extra['authentication.kubernetes.io/pod-name'], ['token-user']);
  const own = await inside('cat /own/token');
  const claims = JSON.parse(Buffer.from(own.split('.')[1] ?? '', 'base64url').toString());
  assert.deepEqual([claims.aud, claims.exp - claims.iat], [['https://own.example.com'], 600]);
  const refused = await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: own } });
  assert.notEqual(refused.status.authenticated, true);
  const accepted = await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: own, audiences: claims.aud } });
  assert.deepEqual([accepted.status.authenticated, accepted.status.audiences], [true, claims.aud]);

  const seen = await bearer(token, config.data['ca.crt']);
  const discovery = JSON.parse(await seen('/.well-known/openid-configuration'));
  assert.equal(discovery.issuer, JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).iss);
  assert.deepEqual(discovery.response_types_supported, ['id_token']);
  const keys = JSON.parse(await seen('/openid/v1/jwks')).keys;
  const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
  assert.ok(keys.some(({ kid }: Any) => kid === header.kid));
});

test('ServiceAccounts should allow opting out of API token automount', async () => {
  const path = await namespace('automount');
  const wanted: [boolean | undefined, boolean | undefined, boolean][] = [
    [undefined, undefined, true],
    [undefined, true, true],
    [undefined, false, false],
    [true, undefined, true],
    [true, true, true],
    [true, false, false],
    [false, undefined, false],
    [false, true, true],
    [false, false, false],
  ];
  for (const [index, [ofAccount, ofPod, mounts]] of wanted.entries()) {
    const name = `case-${index}`;
    await create(`${path}/serviceaccounts`, { metadata: { name }, automountServiceAccountToken: ofAccount });
    const spec = { serviceAccountName: name, automountServiceAccountToken: ofPod, nodeName: 'none', containers: [{ name: 'c', image: busybox }] };
    const pod = await succeeded(api.call('POST', `${path}/pods?dryRun=All`, { body: { metadata: { name }, spec } }), 201);
    assert.equal(pod.spec.containers[0].volumeMounts?.[0].mountPath === '/var/run/secrets/kubernetes.io/serviceaccount', mounts, name);
  }
});

test('ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace', async () => {
  const path = `${await namespace('root-ca')}/configmaps`;
  const one = `${path}/kube-root-ca.crt`;
  const watched = (version: string) => `${path}?watch=1&timeoutSeconds=20&fieldSelector=metadata.name%3Dkube-root-ca.crt&resourceVersion=${version}`;
  const [first] = await api.watch(watched('0'), ({ type }) => type === 'ADDED');
  const right = first?.object.data;
  await remove(one);
  await api.watch(watched(first?.object.metadata.resourceVersion), ({ type }) => type === 'ADDED');
  const changed = await replace(one, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': '' } });
  const events = await api.watch(watched(changed.metadata.resourceVersion), ({ object }) => object.data?.['ca.crt'] === right['ca.crt']);
  assert.deepEqual(events.at(-1)?.object.data, right);
});

test('ServiceAccounts should run through the lifecycle of a ServiceAccount, should update a ServiceAccount', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  await create(path, { metadata: { name: 'lived', labels: { 'test-serviceaccount-static': 'true' } } });
  assert.equal((await patch(`${path}/lived`, { automountServiceAccountToken: false })).automountServiceAccountToken, false);
  assert.deepEqual(namesOf(await get('/api/v1/serviceaccounts?labelSelector=test-serviceaccount-static%3Dtrue')), ['lived']);
  const updated = await replace(`${path}/lived`, { ...(await get(`${path}/lived`)), automountServiceAccountToken: true });
  assert.equal(updated.automountServiceAccountToken, true);
  await remove(`${path}?labelSelector=test-serviceaccount-static%3Dtrue`);
  assert.equal((await api.call('GET', `${path}/lived`)).status, 404);
});

test('ServiceAccounts should create a serviceAccountToken and ensure a successful TokenReview', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  const account = await create(path, { metadata: { name: 'reviewed' } });
  const made = await create(`${path}/reviewed/token`, { spec: { expirationSeconds: 600 } });
  const { status } = await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: made.status.token } });
  assert.equal(status.error, undefined);
  assert.equal(status.authenticated, true);
  assert.deepEqual([status.user.username, status.user.uid], ['system:serviceaccount:default:reviewed', account.metadata.uid]);
  assert.deepEqual(status.user.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
  await remove(`${path}/reviewed`);
});

test('SubjectReview should support SubjectReview API operations', async () => {
  const account = await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'e2e-subject' } });
  const user = `system:serviceaccount:default:${account.metadata.name}`;
  const resourceAttributes = { verb: 'list', resource: 'configmaps', namespace: 'kube-system', version: 'v1' };
  const group = '/apis/authorization.k8s.io/v1';
  const about = { spec: { resourceAttributes: { ...resourceAttributes, namespace: 'default' }, user } };
  const outside = await create(`${group}/subjectaccessreviews`, { spec: { resourceAttributes, user } });
  const local = await create(`${group}/namespaces/default/localsubjectaccessreviews`, { metadata: { namespace: 'default' }, ...about });
  assert.deepEqual([outside.status.allowed, local.status.allowed, local.metadata.namespace], [false, false, 'default']);
  const as = { 'impersonate-user': user };
  const self = await succeeded(api.call('POST', `${group}/selfsubjectaccessreviews`, { headers: as, body: { spec: { resourceAttributes } } }), 201);
  assert.equal(self.status.allowed, false);
});

for (const [title, path, time] of [
  ['Events', '/api/v1', 'lastTimestamp'],
  ['Events API', '/apis/events.k8s.io/v1', 'eventTime'],
] as const) {
  test(`${title} should manage the lifecycle of an event, should delete a collection of events`, async () => {
    const name = time === 'eventTime' ? 'event-new' : 'event-core';
    const namespaced = `${path}/namespaces/default/events`;
    const target = { kind: 'Pod', namespace: 'default', name: 'target', uid: 'x' };
    const body = (suffix: string) =>
      time === 'eventTime'
        ? {
            metadata: { name: `${name}${suffix}`, labels: { set: name } },
            eventTime: '2026-05-01T10:00:00.123456Z',
            note: 'This is one',
            type: 'Normal',
            reason: 'Test',
            action: 'Do',
            reportingController: 'test-controller',
            reportingInstance: 'test-node',
            regarding: target,
          }
        : {
            metadata: { name: `${name}${suffix}`, labels: { set: name } },
            message: 'This is one',
            reason: 'Test',
            type: 'Normal',
            count: 1,
            involvedObject: target,
            source: { component: 'test-controller' },
          };
    await create(namespaced, body(''));
    assert.ok(namesOf(await get(`${path}/events?labelSelector=set%3D${name}`)).includes(name));
    const series = { count: 2, lastObservedTime: '2026-05-01T11:00:00.000001Z' };
    const change = time === 'eventTime' ? { series } : { message: 'This is a patch' };
    const patched = await patch(`${namespaced}/${name}`, change);
    assert.deepEqual({ ...patched, ...change }, patched);
    const selector = time === 'eventTime' ? 'reportingController%3Dtest-controller' : 'involvedObject.name%3Dtarget%2Csource%3Dtest-controller';
    assert.deepEqual(
      namesOf(await get(`${path}/events?fieldSelector=${selector}`)).filter((one) => one.startsWith(name)),
      [name],
    );
    const updated = await replace(`${namespaced}/${name}`, {
      ...patched,
      ...(time === 'eventTime' ? { series: { ...series, count: 100 } } : { count: 100 }),
    });
    assert.equal(time === 'eventTime' ? updated.series.count : updated.count, 100);
    await remove(`${namespaced}/${name}`);
    await Promise.all([1, 2, 3].map((n) => create(namespaced, body(`-${n}`))));
    await remove(`${namespaced}?labelSelector=set%3D${name}`);
    assert.deepEqual(namesOf(await get(`${path}/events?labelSelector=set%3D${name}`)), []);
  });
}
