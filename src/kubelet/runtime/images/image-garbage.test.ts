import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { binarySize, bytesToFree, type ImageRecord, isTooOld, removalOrder, updateRecords, usagePercent } from './image-garbage.ts';

const image = (id: string, over: Partial<ImageRecord> = {}): ImageRecord => ({
  id,
  sizeBytes: 1,
  isPinned: false,
  firstDetectedMs: 0,
  lastUsedMs: 0,
  ...over,
});

test('the image that was not used for longest goes first, of equals the one that was seen first; used and pinned ones stay', () => {
  const records = [
    image('late', { lastUsedMs: 50 }),
    image('used', { lastUsedMs: 100 }),
    image('pinned', { isPinned: true }),
    image('second', { firstDetectedMs: 7 }),
    image('first', { firstDetectedMs: 3 }),
  ];
  assert.deepEqual(
    removalOrder(records, 100).map(({ id }) => id),
    ['first', 'second', 'late'],
  );
});

test('a look keeps what was known, adds what is new and forgets what is gone', () => {
  const seen = (id: string, isUsed: boolean) => ({ id, sizeBytes: 1, isPinned: false, isUsed });
  const known = new Map([
    ['old', image('old', { firstDetectedMs: 1, lastUsedMs: 2 })],
    ['gone', image('gone')],
  ]);
  assert.deepEqual(
    [...updateRecords(known, [seen('old', false), seen('new', true)], 9, 10).values()],
    [image('old', { firstDetectedMs: 1, lastUsedMs: 2 }), image('new', { firstDetectedMs: 9, lastUsedMs: 10 })],
  );
});

test('age counts from the last use, else from the first sight', () => {
  assert.equal(isTooOld(image('a', { firstDetectedMs: 10, lastUsedMs: 50 }), 50, 100), false);
  assert.equal(isTooOld(image('a', { firstDetectedMs: 10, lastUsedMs: 49 }), 50, 100), true);
  assert.equal(isTooOld(image('a', { firstDetectedMs: 49 }), 50, 100), true);
});

test('nothing is freed below the high threshold; above it as much as brings usage to the low one', () => {
  const thresholds = { high: 85, low: 80 };
  assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes: 160 }, thresholds), 0);
  assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes: 150 }, thresholds), 50);
  assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes: 0 }, thresholds), 200);
  assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes: 0 }, { high: 100, low: 80 }), 0);
});

test('what is freed brings usage to the low threshold', () => {
  const disk = fc.record({ capacityBytes: fc.integer({ min: 100, max: 1e12 }), availableBytes: fc.nat(1e12) });
  fc.assert(
    fc.property(disk, fc.integer({ min: 1, max: 99 }), (use, low) => {
      const wanted = bytesToFree(use, { high: low, low });
      if (wanted > 0) assert.ok(usagePercent({ ...use, availableBytes: use.availableBytes + wanted }) <= low + 1);
    }),
  );
});

test('sizes are told as people read them', () => {
  assert.deepEqual([0, 1023, 1024, 9.8 * 2 ** 30, 100 * 2 ** 30].map(binarySize), ['0 B', '1023 B', '1.0 KiB', '9.8 GiB', '100.0 GiB']);
});
