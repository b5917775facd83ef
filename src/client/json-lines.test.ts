import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lines, textOf } from './json-lines.ts';

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array, void, void> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function all(iterable: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const one of iterable) found.push(one);
  return found;
}

test('lines come out whole wherever the stream is cut, inside a character too', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text }));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(7)), fc.boolean(), async (expected, sizes, hasLastBreak) => {
      const bytes = new TextEncoder().encode(expected.join('\n') + (hasLastBreak ? '\n' : ''));
      assert.deepEqual(await all(lines(inChunks(bytes, sizes))), expected);
    }),
  );
});

test('a text comes out whole wherever the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(3)), async (text, sizes) => {
      assert.equal(await textOf(inChunks(new TextEncoder().encode(text), sizes)), text);
    }),
  );
});
