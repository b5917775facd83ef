import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { PodSandbox } from '../generated/cri.ts';

const createdAtField = 4;

for (const [what, nanoseconds] of [
  ['a present time', 1_764_646_000_123_456_789n],
  ['the time of a sandbox that never started, as Go counts it', -6_795_364_578_871_345_152n],
] as const) {
  test(`${what} is read as a number that is right to 1 ms`, () => {
    const bytes = new BinaryWriter().tag(createdAtField, 0).int64(nanoseconds).finish();
    assert.ok(Math.abs(PodSandbox.decode(bytes).createdAt / 1e6 - Number(nanoseconds / 1_000_000n)) < 1);
  });
}
