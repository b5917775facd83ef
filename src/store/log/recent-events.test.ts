import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StorageEvent } from '../storage.ts';
import { RecentEvents } from './recent-events.ts';

function event(revision: number): StorageEvent {
  const entry = { key: '/a', value: new Uint8Array(0), createRevision: 1, modRevision: revision };
  return { kind: 'put', entry, previous: undefined };
}

test('recent events reach back for at least their limit, at most for twice as many, and never with a gap', () => {
  const recent = new RecentEvents(2, 10);
  assert.deepEqual(recent.from(2), []);
  for (let newest = 2; newest < 100; newest++) {
    recent.add([event(newest)]);
    for (let from = 1; from <= newest + 1; from++) {
      const revisions = recent.from(from)?.map((one) => one.entry.modRevision);
      if (from < 2 || newest - from >= 20) assert.equal(revisions, undefined, `from ${from} at ${newest}`);
      else if (newest - from < 10 || revisions !== undefined) {
        assert.deepEqual(
          revisions,
          Array.from({ length: newest - from + 1 }, (_, i) => from + i),
        );
      }
    }
  }
});

test('more events than the limit may come at once', () => {
  const recent = new RecentEvents(2, 10);
  recent.add(Array.from({ length: 50 }, (_, i) => event(i + 2)));
  assert.equal(recent.from(41), undefined);
  assert.deepEqual(
    recent.from(50)?.map((one) => one.entry.modRevision),
    [50, 51],
  );
});
