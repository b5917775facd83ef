import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelSelectorText } from './label-selector-print.ts';
import { parseLabelSelector } from './selector.ts';

test('a selector is printed by key, as a list takes it', () => {
  const text = labelSelectorText({
    matchLabels: { tier: 'web', app: 'shop' },
    matchExpressions: [
      { key: 'zone', operator: 'In', values: ['b', 'a'] },
      { key: 'old', operator: 'DoesNotExist' },
      { key: 'ready', operator: 'Exists' },
      { key: 'env', operator: 'NotIn', values: ['dev'] },
    ],
  });
  assert.equal(text, 'app=shop,env notin (dev),!old,ready,tier=web,zone in (a,b)');
  assert.equal(parseLabelSelector(text).requirements.length, 6);
  assert.deepEqual([labelSelectorText(undefined), labelSelectorText({})], ['', '']);
});
