import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countIndexes, parseIndexes, sharedIndex } from './index-list.ts';

test('a list of indexes is read as runs', () => {
  assert.deepEqual(parseIndexes('', 5), []);
  assert.deepEqual(parseIndexes('1,3-5,7', 8), [
    [1, 1],
    [3, 5],
    [7, 7],
  ]);
  assert.equal(countIndexes(parseIndexes('1,3-5,7', 8)), 5);
});

test('any set of indexes is read back from its runs', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(99)), (indexes) => {
      const sorted = [...indexes].sort((a, b) => a - b);
      const runs = sorted.reduce<number[][]>((all, index) => {
        const last = all.at(-1);
        if (last?.at(-1) === index - 1) last.push(index);
        else all.push([index]);
        return all;
      }, []);
      const read = parseIndexes(runs.map((run) => (run.length === 1 ? `${run[0]}` : `${run[0]}-${run.at(-1)}`)).join(), 100);
      assert.equal(countIndexes(read), sorted.length);
      assert.deepEqual(
        read.flatMap(([first, last]) => sorted.filter((index) => index >= first && index <= last)),
        sorted,
      );
    }),
  );
});

for (const [text, message] of [
  ['5', 'too large index: "5"'],
  ['1-5', 'too large index: "5"'],
  ['a', 'cannot convert string to integer for index: "a"'],
  ['1,', 'cannot convert string to integer for index: ""'],
  ['1-2-3', `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`],
  ['2-2', 'non-increasing order, previous: 2, current: 2'],
  ['0-2,2', 'non-increasing order, previous: 2, current: 2'],
] as const) {
  test(`the list ${text} of 5 indexes is refused`, () => {
    assert.throws(() => parseIndexes(text, 5), { message });
  });
}

test('an index that is in two lists is found', () => {
  assert.equal(sharedIndex(parseIndexes('0-2,5', 9), parseIndexes('3,5-6', 9)), 5);
  assert.equal(sharedIndex(parseIndexes('0-2', 9), parseIndexes('3,5-6', 9)), undefined);
});
