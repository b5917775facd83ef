import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { authenticate } from '../request/authenticate.ts';
import type { ClientCertificate, Credentials } from './authenticator.ts';
import { createBearerAuthenticator, createWebSocketAuthenticator } from './bearer-token.ts';
import { createCertificateAuthenticator } from './client-certificate.ts';
import { createRequestHeaderAuthenticator } from './request-header.ts';
import { createStaticTokenAuthenticator } from './static-token.ts';

const clock = new FakeClock();
const audiences = ['https://issuer'];
const tokens = createStaticTokenAuthenticator(new Map([['secret', { name: 'jane', groups: ['staff'] }]]), audiences);
const ways = [
  createRequestHeaderAuthenticator(['front'], clock),
  createCertificateAuthenticator(clock),
  createBearerAuthenticator(tokens, audiences),
  createWebSocketAuthenticator(tokens, audiences),
];
const signal = new AbortController().signal;
const verified = (more: Partial<Extract<ClientCertificate, { kind: 'verified' }>> = {}): ClientCertificate => ({
  ...{ kind: 'verified', commonName: 'bob', organizations: ['a', 'b'], uid: '', fingerprint256: 'ff' },
  validUntilMs: clock.now() + 1,
  authorities: ['client'],
  ...more,
});
const userOf = (given: Partial<Credentials>) =>
  authenticate(ways, { certificate: { kind: 'none' }, authorization: '', protocols: [], remoteHeaders: [], ...given }, signal);
const isUnauthorized = (error: unknown) => error instanceof StatusError && error.status.code === 401;

test('a certificate says the user, its uid and its groups', async () => {
  assert.deepEqual(await userOf({ certificate: verified({ uid: 'u1' }) }), {
    name: 'bob',
    uid: 'u1',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ff'] },
  });
});

test('a certificate without a name says nothing; one that ended on an open connection is refused', async () => {
  const nameless = { certificate: verified({ commonName: '' }), authorization: '', protocols: [], remoteHeaders: [] };
  assert.equal((await authenticate([createCertificateAuthenticator(clock)], nameless, signal)).name, 'system:anonymous');
  await assert.rejects(userOf({ certificate: verified({ validUntilMs: clock.now() - 1 }) }), isUnauthorized);
});

test('a token says the user; without any credentials it is nobody in particular', async () => {
  assert.deepEqual((await userOf({ authorization: 'Bearer secret' })).groups, ['staff', 'system:authenticated']);
  assert.deepEqual((await userOf({ authorization: 'bearer secret' })).name, 'jane');
  const nobody = await userOf({});
  assert.deepEqual([nobody.name, nobody.groups], ['system:anonymous', ['system:unauthenticated']]);
});

test('what is no bearer token is no credential: another scheme, no token, two spaces before it', async () => {
  for (const authorization of ['Basic secret', 'Bearer', 'Bearer  secret']) assert.equal((await userOf({ authorization })).name, 'system:anonymous');
});

test('credentials that nobody takes are refused, never passed over', async () => {
  await assert.rejects(userOf({ authorization: 'Bearer wrong' }), isUnauthorized);
  await assert.rejects(userOf({ certificate: { kind: 'rejected', problem: 'unknown authority' } }), isUnauthorized);
  const both = { certificate: { kind: 'rejected', problem: 'unknown authority' }, authorization: 'Bearer secret' } as const;
  assert.equal((await userOf(both)).name, 'jane');
});

test('the certificate goes before the token', async () => {
  assert.equal((await userOf({ certificate: verified(), authorization: 'Bearer wrong' })).name, 'bob');
});

test('a WebSocket brings its token as a protocol beside another one', async () => {
  const protocol = (token: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
  assert.equal((await userOf({ protocols: [protocol('secret'), 'v5.channel.k8s.io'] })).name, 'jane');
  assert.equal((await userOf({ protocols: ['v5.channel.k8s.io'] })).name, 'system:anonymous');
  await assert.rejects(userOf({ protocols: [protocol('secret')] }), isUnauthorized);
  await assert.rejects(userOf({ protocols: [protocol('wrong'), 'v5.channel.k8s.io'] }), isUnauthorized);
  await assert.rejects(userOf({ protocols: [protocol('secret'), protocol('secret'), 'v5.channel.k8s.io'] }), isUnauthorized);
  await assert.rejects(userOf({ protocols: [`${protocol('secret')}=`, 'v5.channel.k8s.io'] }), isUnauthorized);
});

test('a front proxy says whom it speaks for, others that send its headers do not', async () => {
  const remoteHeaders = [
    ['x-remote-user', 'carol'],
    ['x-remote-uid', 'u2'],
    ['x-remote-group', 'g1'],
    ['x-remote-group', 'g2'],
    ['x-remote-extra-example.com%2fscopes', 'read'],
    ['x-remote-extra-example.com%2fscopes', 'write'],
  ] as const;
  const proxy = verified({ commonName: 'front', authorities: ['proxy'] });
  assert.deepEqual(await userOf({ certificate: proxy, remoteHeaders }), {
    ...{ name: 'carol', uid: 'u2', groups: ['g1', 'g2', 'system:authenticated'] },
    extra: { 'example.com/scopes': ['read', 'write'] },
  });
  await assert.rejects(userOf({ certificate: proxy }), isUnauthorized);
  await assert.rejects(userOf({ certificate: verified({ commonName: 'other', authorities: ['proxy'] }), remoteHeaders }), isUnauthorized);
  assert.equal((await userOf({ certificate: verified(), remoteHeaders })).name, 'bob');
  assert.equal((await userOf({ remoteHeaders })).name, 'system:anonymous');
});
