import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createRenewalCounts, registerCertificateTtl } from './certificate-metrics.ts';

/** Of nobody; good for a hundred years. */
const pem = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBbzCCARWgAwIBAgIUbD/KVH3RI4lofof4lnYcEDuFYc8wCgYIKoZIzj0EAwIw',
  'DDEKMAgGA1UEAwwBbjAgFw0yNjEyMDIxNjM4MzBaGA8yMTI2MTEwODE2MzgzMFow',
  'DDEKMAgGA1UEAwwBbjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGNmVG6o3E9h',
  'U+cXkqjKP8hW4z+v6GkpktK5JLSbj6/9+C9pFUhgwQThzo7IEA8UysAyS2OlYDED',
  'rUyIGBtrf8+jUzBRMB0GA1UdDgQWBBRD7h2QHQs/VoS5GELcb7BX9kbXLjAfBgNV',
  'HSMEGDAWgBRD7h2QHQs/VoS5GELcb7BX9kbXLjAPBgNVHRMBAf8EBTADAQH/MAoG',
  'CCqGSM49BAMCA0gAMEUCIGySDzfoUOgu2ECiokqrnjVvYn31BzwcFfs6OMD1aD+n',
  'AiEA4n2k9mrb2SwP41nEGf8bTMqkZ38wHqgwFslKtJHwPa0=',
  '-----END CERTIFICATE-----',
].join('\n');
const { validFrom, validTo } = new X509Certificate(pem);

async function lines(registry: Registry, pattern: RegExp): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => !line.startsWith('#') && pattern.test(line));
}

test('what is left of a certificate is told in seconds, and without one there is no end', async () => {
  const registry = new Registry();
  const clock = new FakeClock(Date.parse(validTo) - 90_000);
  registerCertificateTtl(registry, { server: { get: () => ({ cert: pem }) }, client: { get: () => undefined } }, clock);
  assert.deepEqual(await lines(registry, /ttl/), [
    'kubelet_certificate_manager_server_ttl_seconds 90',
    'kubelet_certificate_manager_client_ttl_seconds +Inf',
  ]);
  await clock.advance(100_000);
  assert.deepEqual(await lines(registry, /server_ttl/), ['kubelet_certificate_manager_server_ttl_seconds -10']);
});

test('certificates that are not issued are counted, and those that are replaced by their age', async () => {
  const registry = new Registry();
  const counts = createRenewalCounts(registry, new FakeClock(Date.parse(validFrom) + 7_200_000));
  counts.client.failed();
  counts.server.failed();
  counts.server.failed();
  counts.server.replaced(pem);
  assert.deepEqual(await lines(registry, /errors|sum/), [
    'kubelet_certificate_manager_client_expiration_renew_errors 1',
    'kubelet_server_expiration_renew_errors 2',
    'kubelet_certificate_manager_server_rotation_seconds_sum 7200',
  ]);
});
