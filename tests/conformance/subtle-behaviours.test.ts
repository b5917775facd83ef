import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// The specification of the kubelet numbers the behaviours that are easily lost. A test that holds one is named `subtle N: <what holds>`
// (`subtle N, M: ...` for several; rows of the matrix have it as their feature), on the real runtime or, where it is pure logic or timing, on a virtual clock.

const count = 68;

const root = fileURLToPath(new URL('../..', import.meta.url));

function* testFiles(): Generator<string> {
  for (const folder of ['src', 'tests']) {
    for (const name of readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })) {
      if (/(\.(test|itest|e2e|guest)|^support\/matrix\/[^/]+)\.ts$/.test(name)) yield readFileSync(`${root}${folder}/${name}`, 'utf8');
    }
  }
}

test('every subtle behaviour of the kubelet has a test named after it', () => {
  const named = new Set<number>();
  for (const text of testFiles()) {
    for (const [, numbers = ''] of text.matchAll(/['"`]subtle (\d+(?:, \d+)*): /g)) {
      for (const number of numbers.split(', ')) named.add(Number(number));
    }
  }
  const lost = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !named.has(number));
  assert.deepEqual(lost, []);
  assert.deepEqual(
    [...named].filter((number) => number < 1 || number > count),
    [],
  );
});
