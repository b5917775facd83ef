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
const kubernetes = { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' }, pod: { name: 'p', uid: 'u2' } };
const request = (clock: FakeClock) => ({ audiences: [issuer], expiresAtSeconds: clock.now() / 1000 + 600, kubernetes });

test("a token carries upstream's claims", async () => {
  const clock = new FakeClock();
  const token = await new TokenSigner(newKeys(), issuer, clock).sign(request(clock));
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
    'kubernetes.io': kubernetes,
  });
  assert.equal(decodeProtectedHeader(token).alg, 'ES256');
});

test('a token is good until a minute after its end, and for its own audience', async () => {
  const clock = new FakeClock();
  const signer = new TokenSigner(newKeys(), issuer, clock);
  const token = await signer.sign(request(clock));
  const verified = await signer.verify(token, [issuer, 'other']);
  assert.deepEqual(verified.kind === 'valid' ? verified.claims.kubernetes : verified, kubernetes);
  assert.deepEqual(await signer.verify(token, ['other']), {
    kind: 'invalid',
    problem: `token audiences ["${issuer}"] is invalid for the target audiences ["other"]`,
  });
  await clock.advance(670_000);
  assert.deepEqual(await signer.verify(token, [issuer]), { kind: 'invalid', problem: 'service account token has expired' });
});

test('a token that another key signed is refused, what is no token is not ours', async () => {
  const clock = new FakeClock();
  const signer = new TokenSigner(newKeys(), issuer, clock);
  const forged = await new TokenSigner(newKeys(), issuer, clock).sign(request(clock));
  assert.equal((await signer.verify(forged, [issuer])).kind, 'invalid');
  assert.deepEqual(await signer.verify('not-a-token', [issuer]), { kind: 'foreign' });
});
