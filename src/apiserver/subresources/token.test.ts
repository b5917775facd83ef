import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import type { ApiServerOptions } from '../api-server.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pods = '/api/v1/namespaces/default/pods';

async function withAccounts(work: (api: InProcessServer) => Promise<void>, options: Partial<ApiServerOptions> = {}): Promise<void> {
  await using api = await inProcessServer(options);
  for (const name of ['robot', 'other']) await api.call('POST', accounts, { body: { metadata: { name } } });
  await work(api);
}

const request = (api: InProcessServer, body: object, name = 'robot') => api.call('POST', `${accounts}/${name}/token`, { body });
const refusalOf = async (api: InProcessServer, body: object, name?: string) => {
  const { status, body: answer } = await request(api, body, name);
  return [status, answer.message];
};

async function aPod(api: InProcessServer, more: object = {}): Promise<string> {
  const body = { metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }], ...more } };
  return (await api.call('POST', pods, { body })).body.metadata.uid;
}

test('a request that says nothing gets an hour for the API server', () =>
  withAccounts(async (api) => {
    const { status, body } = await request(api, {});
    assert.deepEqual([status, body.kind, body.metadata.name, body.metadata.namespace], [201, 'TokenRequest', 'robot', 'default']);
    assert.deepEqual(body.spec, { audiences: ['https://issuer'], expirationSeconds: 3600 });
    const { exp = 0, iat = 0, aud } = decodeJwt(body.status.token);
    assert.deepEqual([exp - iat, aud], [3600, ['https://issuer']]);
    assert.equal(Date.parse(body.status.expirationTimestamp), exp * 1000);
  }));

test('a duration has its bounds', () =>
  withAccounts(async (api) => {
    const prefix = 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:';
    const withSeconds = (expirationSeconds: number) => refusalOf(api, { spec: { expirationSeconds } });
    assert.deepEqual(await withSeconds(599), [422, `${prefix} 599: may not specify a duration less than 10 minutes`]);
    assert.deepEqual(await withSeconds(2 ** 32 + 1), [422, `${prefix} 4294967297: may not specify a duration larger than 2^32 seconds`]);
  }));

test('what the server allows no longer is shortened, and said', () =>
  withAccounts(
    async (api) => {
      const { headers, body } = await request(api, { spec: { expirationSeconds: 7200 } });
      assert.match(String(headers['warning']), /requested expiration of 7200 seconds shortened to 1800 seconds/);
      const { exp = 0, iat = 0 } = decodeJwt(body.status.token);
      assert.deepEqual([exp - iat, body.spec.expirationSeconds], [1800, 1800]);
    },
    { serviceAccountMaxTokenSeconds: 1800 },
  ));

test('names that are given must be those of the account', () =>
  withAccounts(async (api) => {
    const prefix = 'TokenRequest.authentication.k8s.io "robot" is invalid: metadata';
    assert.deepEqual(await refusalOf(api, { metadata: { name: 'x' } }), [
      422,
      `${prefix}.name: Invalid value: "x": must match the service account name if specified`,
    ]);
    assert.deepEqual(await refusalOf(api, { metadata: { namespace: 'x' } }), [
      422,
      `${prefix}.namespace: Invalid value: "x": must match the service account namespace if specified`,
    ]);
    const [status, message] = await refusalOf(api, { metadata: { uid: 'x' } });
    assert.equal(status, 409);
    assert.match(
      message,
      /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "robot": the UID in the token request \(x\) does not match the UID of the service account \(.+\)$/,
    );
    assert.deepEqual(await refusalOf(api, {}, 'none'), [404, 'serviceaccounts "none" not found']);
  }));

test('a token is bound to a pod of the account, to a secret or to a node, and to nothing else', () =>
  withAccounts(async (api) => {
    const uid = await aPod(api);
    const bound = (boundObjectRef: object, name?: string) => refusalOf(api, { spec: { boundObjectRef } }, name);
    assert.deepEqual(await bound({ kind: 'Pod', apiVersion: 'v1', name: 'p' }, 'other'), [
      400,
      'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    ]);
    assert.deepEqual(await bound({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid }), [201, undefined]);
    assert.deepEqual(await bound({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'x' }), [
      409,
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (x) does not match the UID in record. ' +
        'The object might have been deleted and then recreated',
    ]);
    for (const kind of ['Pod', 'Secret', 'Node']) {
      assert.deepEqual(await bound({ kind, apiVersion: 'v1', name: 'none' }), [404, `${kind.toLowerCase()}s "none" not found`]);
    }
    assert.deepEqual(await bound({ kind: 'ConfigMap', apiVersion: 'v1', name: 'c' }), [
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ]);
    assert.deepEqual(await bound({ kind: 'Pod', apiVersion: 'apps/v1', name: 'p' }), [400, 'cannot bind token to object of type apps/v1, Kind=Pod']);
  }));

test("a pod's token names the pod's node, registered or not", () =>
  withAccounts(async (api) => {
    await aPod(api, { nodeName: 'n1' });
    const nodeOf = async () => {
      const { body } = await request(api, { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } } });
      const claims = decodeJwt(body.status.token)['kubernetes.io'] as { readonly node: object };
      return claims.node;
    };
    assert.deepEqual(await nodeOf(), { name: 'n1' });
    const { body } = await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
    assert.deepEqual(await nodeOf(), { name: 'n1', uid: body.metadata.uid });
  }));

test("only a pod's token for the API server outlives the kubelet's odd time", () =>
  withAccounts(async (api) => {
    await aPod(api);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    const secondsOf = async (spec: object) => {
      const { body } = await request(api, { spec: { expirationSeconds: 3607, ...spec } });
      const { exp = 0, iat = 0, 'kubernetes.io': claims } = decodeJwt(body.status.token);
      const { warnafter } = claims as { readonly warnafter?: number };
      return [exp - iat, warnafter === undefined ? undefined : warnafter - iat, Date.parse(body.status.expirationTimestamp) / 1000 - iat];
    };
    assert.deepEqual(await secondsOf({ boundObjectRef }), [31_536_000, 3607, 3607]);
    assert.deepEqual(await secondsOf({}), [3607, undefined, 3607]);
    assert.deepEqual(await secondsOf({ boundObjectRef, audiences: ['vault'] }), [3607, undefined, 3607]);
  }));
