import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcessServer } from '../testing/in-process-server.ts';

test('service accounts find how tokens are checked, others do not', async () => {
  await using api = await inProcessServer();
  const as = { name: 'system:serviceaccount:a:robot', groups: ['system:serviceaccounts'] };
  const configuration = await api.call('GET', '/.well-known/openid-configuration', { as });
  assert.deepEqual(
    [configuration.status, configuration.headers['content-type'], configuration.headers['cache-control']],
    [200, 'application/json', 'public, max-age=3600'],
  );
  assert.deepEqual(configuration.body, {
    issuer: 'https://issuer',
    jwks_uri: 'https://issuer/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  const keys = await api.call('GET', '/openid/v1/jwks', { as });
  assert.deepEqual([keys.headers['content-type'], keys.headers['cache-control']], ['application/jwk-set+json', 'public, max-age=3600']);
  assert.deepEqual([keys.body.keys.length, keys.body.keys[0].use, keys.body.keys[0].alg], [1, 'sig', 'ES256']);
  assert.equal((await api.call('GET', '/openid/v1/jwks', { as: { name: 'jane' } })).status, 403);
});
