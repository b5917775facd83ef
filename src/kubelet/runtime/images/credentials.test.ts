import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSecret } from '#api/testing/objects.ts';
import type { Secret } from '#api/types/core-v1.ts';
import { goDuration } from '../go-duration.ts';
import { credentialsFor } from './credentials.ts';
import { withTag } from './image-name.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
function dockerConfig(auths: object): Secret {
  return aSecret({ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) } });
}
const userOf = (image: string, ...secrets: Secret[]) => credentialsFor(image, secrets).map(({ username, password }) => `${username}:${password}`);

test('the longest match of registry and path comes first, others do not match', () => {
  const secret = dockerConfig({
    'r.io': { username: 'all', password: 'a' },
    'https://r.io/team/': { auth: base64('team:b:c') },
    'other.io': { username: 'no', password: 'x' },
  });
  assert.deepEqual(userOf('r.io/team/app:1', secret), ['team:b:c', 'all:a']);
  assert.deepEqual(userOf('r.io/app', secret), ['all:a']);
});

test('an image without a registry is one of Docker Hub, under each of its names', () => {
  assert.deepEqual(userOf('busybox', dockerConfig({ 'https://index.docker.io/v1/': { username: 'me', password: 'p' } })), ['me:p']);
  assert.deepEqual(userOf('a.example.com/x', dockerConfig({ '*.example.com': { username: 'me', password: 'p' } })), ['me:p']);
});

test('the older form works, broken and foreign secrets are passed over', () => {
  const old = aSecret({
    type: 'kubernetes.io/dockercfg',
    data: { '.dockercfg': base64(JSON.stringify({ 'r.io': { username: 'old', password: 'o' } })) },
  });
  const broken = aSecret({ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('{') } });
  assert.deepEqual(userOf('r.io/app', broken, aSecret(), old), ['old:o']);
});

test('a name without a tag means latest', () => {
  assert.deepEqual(['busybox', 'r.io:5000/app', 'app:1', 'app@sha256:0'].map(withTag), [
    'busybox:latest',
    'r.io:5000/app:latest',
    'app:1',
    'app@sha256:0',
  ]);
});

test('durations are printed as Go prints them', () => {
  assert.deepEqual([0, 0.4, 150, 2500, 10_000, 80_000, 300_000, 3_661_000].map(goDuration), [
    '0s',
    '0s',
    '150ms',
    '2.5s',
    '10s',
    '1m20s',
    '5m0s',
    '1h1m1s',
  ]);
});
