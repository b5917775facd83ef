import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import { authenticate } from '../request/authenticate.ts';
import type { ClientCertificate } from './authenticator.ts';
import { clientCertificateAuthenticator } from './client-certificate.ts';
import { createStaticTokenAuthenticator } from './static-token.ts';

const ways = [clientCertificateAuthenticator, createStaticTokenAuthenticator(new Map([['secret', { name: 'jane', groups: ['staff'] }]]))];
const none: ClientCertificate = { kind: 'none' };
const userOf = (certificate: ClientCertificate, authorization = '') => authenticate(ways, { certificate, authorization });
const isUnauthorized = (error: unknown) => error instanceof StatusError && error.status.code === 401;

test('a certificate says the user and the groups', async () => {
  const user = await userOf({ kind: 'verified', commonName: 'bob', organizations: ['a', 'b'], fingerprint256: 'ff' });
  assert.deepEqual(user, {
    name: 'bob',
    uid: '',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ff'] },
  });
});

test('a token says the user; without any credentials it is nobody in particular', async () => {
  assert.deepEqual((await userOf(none, 'Bearer secret')).groups, ['staff', 'system:authenticated']);
  assert.equal((await userOf(none)).name, 'system:anonymous');
});

test('credentials that nobody takes are refused, never passed over', async () => {
  await assert.rejects(userOf(none, 'Bearer wrong'), isUnauthorized);
  await assert.rejects(userOf({ kind: 'rejected', problem: 'unknown authority' }), isUnauthorized);
  assert.equal((await userOf({ kind: 'rejected', problem: 'unknown authority' }, 'Bearer secret')).name, 'jane');
});
