import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, humanDuration } from './human-duration.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

for (const [seconds, expected] of [
  [-5, '<invalid>'],
  [-0.5, '0s'],
  [0, '0s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [3 * minute + 20, '3m20s'],
  [10 * minute + 5, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [5 * hour + 7 * minute, '5h7m'],
  [9 * hour + 7 * minute, '9h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [3 * day + 4 * hour, '3d4h'],
  [9 * day + 4 * hour, '9d'],
  [400 * day, '400d'],
  [2 * 365 * day + 3 * day, '2y3d'],
  [9 * 365 * day, '9y'],
] as const) {
  test(`${seconds} seconds are shown as ${expected}`, () => assert.equal(humanDuration(seconds * 1000), expected));
}

test('an age without a time is unknown', () => {
  assert.equal(age(undefined, 0), '<unknown>');
  assert.equal(age('2026-01-02T03:04:05Z', Date.parse('2026-01-02T03:05:05Z')), '60s');
});
