import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { BadHostname, podHostname } from './hostname.ts';

const hostnameOf = (pod: DeepPartial<Pod>) => podHostname(aPod(pod), 'cluster.local');
const specOf = (spec: DeepPartial<Pod['spec']>) => hostnameOf({ spec });

test('the pod’s name, or the one that it asks for', () => {
  assert.deepEqual(specOf({}), { hostname: 'web', domain: '', kernelName: 'web' });
  assert.deepEqual(specOf({ hostname: 'db-0' }), { hostname: 'db-0', domain: '', kernelName: 'db-0' });
});

test('a name that is too long is cut, without a dash or dot at its end', () => {
  const name = `${'a'.repeat(62)}-${'b'.repeat(20)}`;
  assert.equal(hostnameOf({ metadata: { name } }).hostname, 'a'.repeat(62));
});

test('a subdomain gives a domain, which the kernel is told only on demand', () => {
  const subdomain = 'db';
  assert.deepEqual(specOf({ subdomain }), { hostname: 'web', domain: 'db.default.svc.cluster.local', kernelName: 'web' });
  assert.equal(specOf({ subdomain, setHostnameAsFQDN: true }).kernelName, 'web.db.default.svc.cluster.local');
});

test('names that no host can have are refused', () => {
  assert.throws(
    () => specOf({ hostname: 'Not_a_label' }),
    (error) =>
      error instanceof BadHostname && /^pod Hostname "Not_a_label" is not a valid DNS label: a lowercase RFC 1123 label must/.test(error.message),
  );
  assert.throws(() => specOf({ subdomain: 'a.b' }), BadHostname);
  assert.throws(() => specOf({ hostnameOverride: 'UPPER' }), BadHostname);
  assert.throws(
    () => specOf({ subdomain: 's'.repeat(40), setHostnameAsFQDN: true }),
    /is too long \(64 characters is the max, 70 characters requested\)/,
  );
});

test('an override goes before everything else', () => {
  assert.deepEqual(specOf({ hostname: 'x', subdomain: 'y', hostnameOverride: 'a.b' }), { hostname: 'a.b', domain: '', kernelName: 'a.b' });
});
