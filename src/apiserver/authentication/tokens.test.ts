import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type KubernetesClaims, legacyClaimNames } from '../service-account-tokens/token-claims.ts';
import { type ServiceAccountKeys, TokenSigner } from '../service-account-tokens/token-signer.ts';
import { type InProcessServer, inProcessServer } from '../testing/in-process-server.ts';

const issuer = 'https://issuer';
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const secrets = '/api/v1/namespaces/default/secrets';
const pods = '/api/v1/namespaces/default/pods';

function newKeys(): ServiceAccountKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}

interface Tokens {
  readonly api: InProcessServer;
  readonly signer: TokenSigner;
  readonly clock: FakeClock;
  readonly account: { readonly name: string; readonly uid: string };
  /** The error that upstream's first authenticator does not add; '' when the token is good. */
  problemOf(token: string, audiences?: readonly string[]): Promise<string>;
  tokenFor(claims?: Partial<KubernetesClaims>, more?: { readonly audiences?: readonly string[]; readonly seconds?: number }): Promise<string>;
}

async function withAccount(api: InProcessServer, keys: ServiceAccountKeys, clock: FakeClock): Promise<Tokens> {
  const { body } = await api.call('POST', accounts, { body: { metadata: { name: 'robot' } } });
  const account = { name: 'robot', uid: body.metadata.uid };
  const signer = new TokenSigner(keys, issuer, clock);
  return {
    ...{ api, signer, clock, account },
    async problemOf(token, audiences) {
      const { status } = (await api.call('POST', reviews, { body: { spec: { token, audiences } } })).body;
      assert.equal(status.authenticated, status.error === undefined);
      return (status.error ?? '').replace(/^\[invalid bearer token, (.*)\]$/, '$1');
    },
    tokenFor: (claims, { audiences = [issuer], seconds = 600 } = {}) =>
      signer.sign({
        audiences,
        expiresAtSeconds: Math.floor(clock.now() / 1000) + seconds,
        kubernetes: { namespace: 'default', serviceaccount: account, ...claims },
      }),
  };
}

async function withTokens(work: (tokens: Tokens) => Promise<void>): Promise<void> {
  const [keys, clock] = [newKeys(), new FakeClock()];
  await using api = await inProcessServer({ serviceAccountKeys: keys, staticTokens: new Map([['fixed', { name: 'jane' }]]) }, clock);
  await work(await withAccount(api, keys, clock));
}

test('a review says who a token is, with what it is bound to', () =>
  withTokens(async ({ api, account, tokenFor }) => {
    const { body: node } = await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
    const { body: pod } = await api.call('POST', pods, {
      body: { metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] } },
    });
    const token = await tokenFor({ pod: { name: 'p', uid: pod.metadata.uid }, node: { name: 'n1', uid: node.metadata.uid } });
    const { status, body } = await api.call('POST', reviews, { body: { spec: { token } } });
    const { 'authentication.kubernetes.io/credential-id': id, ...extra } = body.status.user.extra;
    assert.match(id[0], /^JTI=[0-9a-f-]{36}$/);
    assert.deepEqual(
      [status, body.status.authenticated, body.status.audiences, { ...body.status.user, extra }],
      [
        201,
        true,
        [issuer],
        {
          username: 'system:serviceaccount:default:robot',
          uid: account.uid,
          groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
          extra: {
            'authentication.kubernetes.io/node-name': ['n1'],
            'authentication.kubernetes.io/node-uid': [node.metadata.uid],
            'authentication.kubernetes.io/pod-name': ['p'],
            'authentication.kubernetes.io/pod-uid': [pod.metadata.uid],
          },
        },
      ],
    );
  }));

test('a review of what is no token says so, and one of nothing is refused', () =>
  withTokens(async ({ api, problemOf }) => {
    assert.equal(await problemOf('what'), 'invalid bearer token');
    const empty = await api.call('POST', reviews, { body: { spec: {} } });
    assert.deepEqual([empty.status, empty.body.message], [400, 'token is required for TokenReview in authentication']);
  }));

test('a fixed token is for the API server alone', () =>
  withTokens(async ({ problemOf }) => {
    assert.equal(await problemOf('fixed'), '');
    assert.equal(await problemOf('fixed', ['other']), 'invalid bearer token');
  }));

test('a token is for its audiences, which are looked at before its times', () =>
  withTokens(async ({ clock, problemOf, tokenFor }) => {
    const token = await tokenFor({}, { audiences: ['vault', 'other'] });
    assert.equal(await problemOf(token, ['vault']), '');
    await clock.advance(700_000);
    assert.equal(await problemOf(token), 'token audiences ["vault" "other"] is invalid for the target audiences ["https://issuer"]');
    assert.equal(await problemOf(token, ['vault']), 'service account token has expired');
  }));

test('times have a minute of leeway, and a token that was good is looked at again', () =>
  withTokens(async ({ clock, problemOf, tokenFor, signer, account }) => {
    const token = await tokenFor();
    await clock.advance(660_000);
    assert.equal(await problemOf(token), '');
    await clock.advance(1_000);
    assert.equal(await problemOf(token), 'service account token has expired');
    const ahead = new FakeClock(clock.now() + 61_000);
    assert.ok(signer.audiences.length > 0);
    const early = await tokenFromTheFuture(ahead, account);
    assert.equal(await problemOf(early.token), 'invalid signature, no keys found');
  }));

async function tokenFromTheFuture(clock: FakeClock, account: { readonly name: string; readonly uid: string }) {
  const signer = new TokenSigner(newKeys(), issuer, clock);
  const kubernetes = { namespace: 'default', serviceaccount: account };
  return { token: await signer.sign({ audiences: [issuer], expiresAtSeconds: clock.now() / 1000 + 600, kubernetes }) };
}

test('a token that is not valid yet is told so', async () => {
  const [keys, clock] = [newKeys(), new FakeClock()];
  await using api = await inProcessServer({ serviceAccountKeys: keys }, clock);
  const { account, problemOf } = await withAccount(api, keys, clock);
  const ahead = new TokenSigner(keys, issuer, new FakeClock(clock.now() + 61_000));
  const kubernetes = { namespace: 'default', serviceaccount: account };
  const token = await ahead.sign({ audiences: [issuer], expiresAtSeconds: clock.now() / 1000 + 900, kubernetes });
  assert.equal(await problemOf(token), 'service account token is not valid yet');
  await clock.advance(1_000);
  assert.equal(await problemOf(token), '');
});

test('a token of an account ends with the account, and is not for one of the same name', () =>
  withTokens(async ({ api, account, problemOf, tokenFor }) => {
    const token = await tokenFor();
    assert.equal(await problemOf(token), '');
    await api.call('DELETE', `${accounts}/robot`);
    assert.equal(await problemOf(token), 'serviceaccounts "robot" not found');
    const { body } = await api.call('POST', accounts, { body: { metadata: { name: 'robot' } } });
    assert.equal(await problemOf(token), `service account UID (${body.metadata.uid}) does not match claim (${account.uid})`);
  }));

test('what is being deleted may use its token for a minute', () =>
  withTokens(async ({ api, clock, problemOf, tokenFor }) => {
    const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    const { body: secret } = await api.call('POST', secrets, { body: held });
    const bound = await tokenFor({ secret: { name: 'held', uid: secret.metadata.uid } });
    const { body: account } = await api.call('POST', accounts, { body: held });
    const own = await tokenFor({ serviceaccount: { name: 'held', uid: account.metadata.uid } });
    await api.call('DELETE', `${secrets}/held`);
    await api.call('DELETE', `${accounts}/held`);
    await clock.advance(60_000);
    assert.deepEqual([await problemOf(bound), await problemOf(own)], ['', '']);
    await clock.advance(1_000);
    assert.equal(await problemOf(bound), 'service account token has been invalidated');
    assert.equal(await problemOf(own), 'service account default/held has been deleted');
  }));

test('58: a token that is bound to a pod, a secret or a node ends with it, and is not for one of the same name', () =>
  withTokens(async ({ api, problemOf, tokenFor }) => {
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } };
    const bounds = [
      { what: 'pod', collection: pods, body: pod },
      { what: 'secret', collection: secrets, body: { metadata: { name: 'p' } } },
      { what: 'node', collection: '/api/v1/nodes', body: { metadata: { name: 'p' } } },
    ];
    for (const { what, collection, body } of bounds) {
      const { body: first } = await api.call('POST', collection, { body });
      const token = await tokenFor({ [what]: { name: 'p', uid: first.metadata.uid } });
      assert.equal(await problemOf(token), '');
      await api.call('DELETE', `${collection}/p`);
      assert.equal(await problemOf(token), 'service account token has been invalidated');
      const { body: second } = await api.call('POST', collection, { body });
      assert.equal(
        await problemOf(token),
        `${what} UID (${second.metadata.uid}) does not match service account ${what} ref claim (${first.metadata.uid})`,
      );
    }
  }));

test('the node of a pod that is bound is told, whether it is there or not', () =>
  withTokens(async ({ api, problemOf, tokenFor }) => {
    const body = { metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } };
    const { body: pod } = await api.call('POST', pods, { body });
    assert.equal(await problemOf(await tokenFor({ pod: { name: 'p', uid: pod.metadata.uid }, node: { name: 'gone', uid: '' } })), '');
  }));

const bootstrap = '/api/v1/namespaces/kube-system/secrets';
const bootstrapToken = '07401b.f395accd246ae52d';
const bootstrapSecret = (data: object = {}, type = 'bootstrap.kubernetes.io/token') => ({
  metadata: { name: 'bootstrap-token-07401b' },
  type,
  stringData: { 'token-id': '07401b', 'token-secret': 'f395accd246ae52d', 'usage-bootstrap-authentication': 'true', ...data },
});

test('a bootstrap token is a user of its own with the groups of its secret', () =>
  withTokens(async ({ api }) => {
    const groups = 'system:bootstrappers:kubeadm:default-node-token,system:bootstrappers:a';
    await api.call('POST', bootstrap, { body: bootstrapSecret({ 'auth-extra-groups': groups, expiration: '2030-01-01T00:00:01Z' }) });
    const { body } = await api.call('POST', reviews, { body: { spec: { token: bootstrapToken } } });
    assert.deepEqual(body.status.user, {
      username: 'system:bootstrap:07401b',
      groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:kubeadm:default-node-token', 'system:authenticated'],
    });
  }));

test('a bootstrap secret that is wrong in one thing makes no token', () =>
  withTokens(async ({ api, problemOf }) => {
    const wrong = [
      bootstrapSecret({ 'token-id': '07401c' }),
      bootstrapSecret({ 'token-secret': 'f395accd246ae52e' }),
      bootstrapSecret({ expiration: '2029-12-31T23:59:59Z' }),
      bootstrapSecret({ expiration: 'tomorrow' }),
      bootstrapSecret({ 'usage-bootstrap-authentication': 'TRUE' }),
      bootstrapSecret({ 'auth-extra-groups': 'system:bootstrappers:a,system:masters' }),
      bootstrapSecret({}, 'Opaque'),
    ];
    for (const body of wrong) {
      assert.equal((await api.call('POST', bootstrap, { body })).status, 201);
      assert.equal(await problemOf(bootstrapToken), 'invalid bearer token', JSON.stringify(body));
      await api.call('DELETE', `${bootstrap}/bootstrap-token-07401b`);
    }
  }));

async function legacyToken({ signer, account, api }: Tokens, labels: object = {}): Promise<string> {
  const claims = { namespace: 'default', secretName: 's', serviceAccountName: 'robot', serviceAccountUid: account.uid };
  const token = await signer.signLegacy(claims);
  const annotations = { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': account.uid };
  const body = { metadata: { name: 's', labels, annotations }, type: 'kubernetes.io/service-account-token', stringData: { token } };
  assert.equal((await api.call('POST', secrets, { body })).status, 201);
  return token;
}

test("a secret's token is good while the secret holds it; its use is noted", () =>
  withTokens(async (tokens) => {
    const { api, account, problemOf } = tokens;
    const token = await legacyToken(tokens);
    const { body } = await api.call('POST', reviews, { body: { spec: { token } } });
    assert.deepEqual(body.status.user, {
      username: 'system:serviceaccount:default:robot',
      uid: account.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    const used = await api.call('GET', `${secrets}/s`);
    assert.deepEqual(used.body.metadata.labels, { 'kubernetes.io/legacy-token-last-used': '2030-01-01' });
    await api.call('PATCH', `${secrets}/s`, { body: { data: { token: '' } }, headers: { 'content-type': 'application/merge-patch+json' } });
    assert.equal(await problemOf(token), "Token does not match server's copy");
    await api.call('DELETE', `${secrets}/s`);
    assert.equal(await problemOf(token), 'Token has been invalidated');
  }));

test("a secret's token that was marked invalid is refused", () =>
  withTokens(async (tokens) => {
    const token = await legacyToken(tokens, { 'kubernetes.io/legacy-token-invalid-since': '2029-01-01' });
    assert.match(await tokens.problemOf(token), /^the token in secret default\/s for service account default\/robot has been marked invalid\./);
    assert.equal(legacyClaimNames.secretName, 'kubernetes.io/serviceaccount/secret.name');
  }));
