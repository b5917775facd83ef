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

test('a history tells what came after a revision that it knows, and nothing of one before', () => {
  const history = new History(10, { maxChanges: 100, maxBytes: 1e6 });
  for (const revision of [12, 15, 19]) history.add(changeAt(revision));
  assert.deepEqual(revisionsSince(history, 10), [12, 15, 19]);
  assert.deepEqual(revisionsSince(history, 15), [19]);
  assert.deepEqual(revisionsSince(history, 50), []);
  assert.equal(revisionsSince(history, 9), undefined);
});

test('the oldest changes make room, by number and by size; the floor tells from where on it is whole', () => {
  const byNumber = new History(0, { maxChanges: 8, maxBytes: 1e6 });
  const bySize = new History(0, { maxChanges: 1e6, maxBytes: changeAt(1).object.item.byteLength * 9 });
  for (let revision = 1; revision <= 10; revision++) {
    byNumber.add(changeAt(revision));
    bySize.add(changeAt(revision));
  }
  for (const history of [byNumber, bySize]) {
    assert.equal(revisionsSince(history, history.floor - 1), undefined);
    const kept = revisionsSince(history, history.floor) ?? [];
    assert.deepEqual(
      kept,
      Array.from({ length: 10 - history.floor }, (_, index) => history.floor + 1 + index),
    );
    assert.ok(history.floor > 0 && kept.length > 0);
  }
});
