import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSecret, aServiceAccount } from '#api/testing/objects.ts';
import { filled, planSecret, TOKEN_SECRET_TYPE, withoutSecret } from './plan.ts';

const account = aServiceAccount({ metadata: { name: 'robot', uid: 'u1' } });
const secretFor = (name: string, uid?: string) => {
  const annotations = { 'kubernetes.io/service-account.name': name, ...(uid === undefined ? {} : { 'kubernetes.io/service-account.uid': uid }) };
  return aSecret({ type: TOKEN_SECRET_TYPE, data: {}, metadata: { annotations } });
};

test('a Secret is filled for its account, and done when it is full', () => {
  const secret = secretFor('robot');
  assert.deepEqual(planSecret(secret, account, 'CA'), { kind: 'fill', needsToken: true });
  const full = filled(secret, account, 'CA', 'TOKEN');
  const text = (key: string) => Buffer.from(full.data?.[key] ?? '', 'base64').toString();
  assert.deepEqual([text('token'), text('ca.crt'), text('namespace')], ['TOKEN', 'CA', 'default']);
  assert.equal(full.metadata.annotations?.['kubernetes.io/service-account.uid'], 'u1');
  assert.deepEqual(planSecret(full, account, 'CA'), { kind: 'nothing' });
  assert.deepEqual(planSecret(full, account, 'OTHER CA'), { kind: 'fill', needsToken: false });
  assert.equal(filled(full, account, 'OTHER CA', undefined).data?.['token'], full.data?.['token']);
});

test('a Secret without its account goes, also when another one has the name', () => {
  assert.deepEqual(planSecret(secretFor('robot'), undefined, 'CA'), { kind: 'delete' });
  assert.deepEqual(planSecret(secretFor('robot', 'u0'), account, 'CA'), { kind: 'delete' });
});

test('an account does not list a Secret that is gone', () => {
  const listing = { ...account, secrets: [{ name: 'a' }, { name: 'b' }] };
  assert.deepEqual(withoutSecret(listing, 'a')?.secrets, [{ name: 'b' }]);
  assert.equal(withoutSecret({ ...account, secrets: [{ name: 'a' }] }, 'a')?.secrets, undefined);
  assert.equal(withoutSecret(listing, 'c'), undefined);
});
