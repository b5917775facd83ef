import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageName } from './image-name.ts';

const digest = `sha256:${'0'.repeat(64)}`;

test('a name without tag and digest means latest, and stays as short as it was', () => {
  const cases: readonly (readonly [image: string, tagged: string, repository: string])[] = [
    ['busybox', 'busybox:latest', 'docker.io/library/busybox'],
    ['me/app:1', 'me/app:1', 'docker.io/me/app'],
    ['docker.io/busybox', 'docker.io/busybox:latest', 'docker.io/library/busybox'],
    ['index.docker.io/me/app', 'index.docker.io/me/app:latest', 'docker.io/me/app'],
    ['r.io:5000/app', 'r.io:5000/app:latest', 'r.io:5000/app'],
    ['localhost/a/b', 'localhost/a/b:latest', 'localhost/a/b'],
    [`r.io/app@${digest}`, `r.io/app@${digest}`, 'r.io/app'],
    [`r.io/app:1@${digest}`, `r.io/app:1@${digest}`, 'r.io/app'],
  ];
  for (const [image, tagged, repository] of cases) assert.deepEqual(parseImageName(image), { tagged, repository });
});

test('a name that no image can have is refused with the reason', () => {
  for (const [image, why] of [
    ['UPPER', 'invalid reference format: repository name (library/UPPER) must be lowercase'],
    ['r.io/Team/app:1', 'invalid reference format: repository name (Team/app) must be lowercase'],
    ['nginx::1', 'invalid reference format'],
    ['app@sha256:0', 'invalid reference format'],
    ['https://r.io/app', 'invalid reference format'],
    ['a b', 'invalid reference format'],
  ] as const) {
    assert.throws(() => parseImageName(image), { code: 'BAD_IMAGE_NAME', message: `couldn't parse image name "${image}": ${why}` });
  }
});
