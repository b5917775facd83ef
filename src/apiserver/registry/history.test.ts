import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '#api/kinds/core/v1/config-map.ts';
import { Change } from './change.ts';
import { History } from './history.ts';
import { StoredObject } from './indexed-object.ts';
import { KindStorage } from './kind-storage.ts';

const storage = new KindStorage(configMap);
const stored = Buffer.from('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"u"}}');
const changeAt = (revision: number) => new Change('MODIFIED', StoredObject.fromBytes(storage, 'n/a', stored, revision), undefined);
const revisionsSince = (history: History, revision: number) => history.since(revision)?.map((change) => change.revision);

const limits = { keepMs: 300_000, keepAtLeastMs: 75_000, maxChanges: 8, maxBytes: 1e6 };

test('a history tells what came after a revision that it knows, and nothing of one before', () => {
  const history = new History(10, limits);
  for (const revision of [12, 15, 19]) history.add(changeAt(revision), 0);
  assert.deepEqual(revisionsSince(history, 10), [12, 15, 19]);
  assert.deepEqual(revisionsSince(history, 15), [19]);
  assert.deepEqual(revisionsSince(history, 50), []);
  assert.equal(revisionsSince(history, 9), undefined);
});

test('changes of the last 75 seconds are kept, also when there are too many', () => {
  const history = new History(0, limits);
  for (let revision = 1; revision <= 30; revision++) history.add(changeAt(revision), revision * 1000);
  assert.equal(revisionsSince(history, 0)?.length, 30);
});

test('what is older than five minutes goes, and the floor says from where on the history is whole', () => {
  const history = new History(0, { ...limits, maxChanges: 1_000 });
  for (let revision = 1; revision <= 10; revision++) history.add(changeAt(revision), revision * 60_000);
  assert.ok(history.floor >= 1 && history.floor <= 5, `floor ${history.floor}`);
  assert.equal(revisionsSince(history, history.floor - 1), undefined);
  assert.equal(revisionsSince(history, history.floor)?.at(0), history.floor + 1);
});

test('four times too many make room whatever their age, by number and by size', () => {
  const byNumber = new History(0, limits);
  const bySize = new History(0, { ...limits, maxChanges: 1e6, maxBytes: changeAt(1).object.item.byteLength * 9 });
  for (let revision = 1; revision <= 40; revision++) {
    byNumber.add(changeAt(revision), 0);
    bySize.add(changeAt(revision), 0);
  }
  for (const history of [byNumber, bySize]) {
    assert.equal(revisionsSince(history, history.floor - 1), undefined);
    const kept = revisionsSince(history, history.floor) ?? [];
    assert.deepEqual(
      kept,
      Array.from({ length: 40 - history.floor }, (_, index) => history.floor + 1 + index),
    );
    assert.ok(history.floor > 0 && kept.length > 0);
  }
});
