import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { type ServiceAccountKeys, TokenSigner } from './token-signer.ts';

const issuer = 'https://kubernetes.default.svc';
const newKeys = (): ServiceAccountKeys => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
};
const clock = new FakeClock();
const kubernetes = { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' }, pod: { name: 'p', uid: 'u2' } };
const request = { audiences: [issuer], expiresAtSeconds: clock.now() / 1000 + 600, kubernetes };

test("a token carries upstream's claims", async () => {
  const token = await new TokenSigner(newKeys(), issuer, clock).sign({ ...request, kubernetes: { ...kubernetes, node: { name: 'n', uid: '' } } });
  const { jti, ...claims } = decodeJwt(token);
  const nowSeconds = clock.now() / 1000;
  assert.equal(typeof jti, 'string');
  assert.deepEqual(claims, {
    iss: issuer,
    sub: 'system:serviceaccount:a:robot',
    aud: [issuer],
    iat: nowSeconds,
    nbf: nowSeconds,
    exp: nowSeconds + 600,
    'kubernetes.io': { ...kubernetes, node: { name: 'n' } },
  });
  assert.equal(decodeProtectedHeader(token).alg, 'ES256');
});

test('what was signed is read, the second time without its signature being checked', async () => {
  const signer = new TokenSigner(newKeys(), issuer, clock);
  const token = await signer.sign(request);
  const first = await signer.read(token);
  const second = await signer.read(token);
  assert.deepEqual(first.kind === 'signed' ? first.claims.kubernetes : first, kubernetes);
  assert.ok(first.kind === 'signed' && second.kind === 'signed' && first.claims === second.claims);
});

test('a token that another key signed is refused, what is no token of ours is not looked at', async () => {
  const keys = newKeys();
  const signer = new TokenSigner(keys, issuer, clock);
  const forged = await new TokenSigner(newKeys(), issuer, clock).sign(request);
  assert.deepEqual(await signer.read(forged), { kind: 'invalid', problem: 'invalid signature, no keys found' });
  const [header = '', , signature = ''] = (await signer.sign(request)).split('.');
  const [, otherPayload = ''] = forged.split('.');
  const mixed = [header, otherPayload, signature].join('.');
  assert.deepEqual(await signer.read(mixed), { kind: 'invalid', problem: 'go-jose/go-jose: error in cryptographic primitive' });
  assert.deepEqual(await signer.read(await new TokenSigner(keys, 'https://other', clock).sign(request)), { kind: 'foreign' });
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${otherPayload}.`;
  for (const token of ['not-a-token', 'a.b.c', unsigned]) assert.deepEqual(await signer.read(token), { kind: 'foreign' }, token);
});

test('tokens of an older key are good while its public half is known, and it is published', async () => {
  const [older, newer] = [newKeys(), newKeys()];
  const token = await new TokenSigner(older, issuer, clock).sign(request);
  const signer = new TokenSigner({ ...newer, olderPublicKeyPems: [older.publicKeyPem] }, issuer, clock);
  assert.equal((await signer.read(token)).kind, 'signed');
  assert.equal((await new TokenSigner(newer, issuer, clock).read(token)).kind, 'invalid');
  assert.deepEqual(
    signer.publicKeys().map(({ use, alg, kty }) => ({ use, alg, kty })),
    [
      { use: 'sig', alg: 'ES256', kty: 'EC' },
      { use: 'sig', alg: 'ES256', kty: 'EC' },
    ],
  );
});
