import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSecret } from '#api/testing/objects.ts';
import type { Secret } from '#api/types/core-v1.ts';
import { goDuration } from '../go-duration.ts';
import { credentialsFor, credentialsOfSecrets, registryMatches } from './credentials.ts';
import { parseImageName } from './image-name.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
function dockerConfig(auths: object): Secret {
  return aSecret({ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) } });
}
const authsOf = (image: string, ...secrets: Secret[]) =>
  credentialsFor(parseImageName(image).repository, credentialsOfSecrets(secrets)).map(({ auth }) => auth);
const userOf = (image: string, ...secrets: Secret[]) => authsOf(image, ...secrets).map(({ username, password }) => `${username}:${password}`);

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

test('several secrets for one registry are tried in the order of the pod', () => {
  const of = (password: string) => dockerConfig({ 'r.io': { username: 'me', password } });
  assert.deepEqual(userOf('r.io/app', of('old'), of('new')), ['me:old', 'me:new']);
});

test('the field auth counts before user and password, an identity token before both', () => {
  const both = { username: 'me', password: 'p', auth: base64('you:q') };
  assert.deepEqual(userOf('r.io/app', dockerConfig({ 'r.io': both })), ['you:q']);
  const [auth] = authsOf('r.io/app', dockerConfig({ 'r.io': { ...both, identitytoken: 'token' } }));
  assert.deepEqual([auth?.username, auth?.password, auth?.identityToken], ['', '', 'token']);
});

test('a registry matches by host with globs in its parts, by port, and by the beginning of the path', () => {
  const rows: readonly (readonly [registry: string, repository: string, matches: boolean])[] = [
    ['r.io', 'r.io/app', true],
    ['r.io', 'r.io:5000/app', false],
    ['r.io:5000', 'r.io:5000/app', true],
    ['r.io:5000', 'r.io/app', false],
    ['*.r.io', 'eu.r.io/app', true],
    ['*.r.io', 'r.io/app', false],
    ['*.r.io', 'a.eu.r.io/app', false],
    ['*.*.r.io', 'a.eu.r.io/app', true],
    ['eu-*.r.io/team', 'eu-1.r.io/team/app', true],
    ['r.io/team', 'r.io/other/app', false],
    ['r.io/te', 'r.io/team/app', true],
  ];
  for (const [registry, repository, matches] of rows) assert.equal(registryMatches(registry, repository), matches, `${registry} ${repository}`);
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
