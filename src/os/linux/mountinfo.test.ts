import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBelow, parseMountInfo } from './mountinfo.ts';

test('a line with optional fields and escaped blanks is read', () => {
  const text = [
    '36 35 98:0 /mnt1 /mnt/with\\040blank rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue',
    '40 35 0:41 / /run/x ro,nosuid - tmpfs tmpfs rw,size=4k',
    '',
  ].join('\n');
  assert.deepEqual(parseMountInfo(text), [
    { target: '/mnt/with blank', root: '/mnt1', options: ['rw', 'noatime'], fsType: 'ext3', source: '/dev/root' },
    { target: '/run/x', root: '/', options: ['ro', 'nosuid'], fsType: 'tmpfs', source: 'tmpfs' },
  ]);
});

test('a sibling with the same beginning is not below', () => {
  assert.deepEqual(
    ['/a/b', '/a/b/c', '/a/bc', '/a'].map((path) => isBelow(path, '/a/b')),
    [true, true, false, false],
  );
});
