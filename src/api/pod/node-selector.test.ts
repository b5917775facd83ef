import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode, aPod } from '#api/testing/objects.ts';
import type { NodeSelectorTerm } from '#api/types/core-v1.ts';
import { matchesNode } from './node-selector.ts';

const node = aNode({ metadata: { labels: { zone: 'a', size: '10' } } });

const table: readonly (readonly [term: NodeSelectorTerm, expected: boolean])[] = [
  [{}, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
  [{ matchExpressions: [{ key: 'gone', operator: 'NotIn', values: ['a'] }] }, true],
  [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'gone', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['9'] }] }, true],
  [{ matchExpressions: [{ key: 'size', operator: 'Lt', values: ['9'] }] }, false],
  [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['+9'] }] }, true],
  [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['x'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'Gt', values: ['9'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'Like', values: ['a'] }] }, false],
  [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }, true],
  [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }, false],
  [
    {
      matchExpressions: [{ key: 'zone', operator: 'Exists' }],
      matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }],
    },
    false,
  ],
];

for (const [term, expected] of table) {
  test(`the term ${JSON.stringify(term)} ${expected ? 'takes' : 'leaves'} the node`, () => {
    const required = { nodeSelectorTerms: [term] };
    const pod = aPod({ spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } });
    assert.equal(matchesNode(pod, node), expected);
  });
}

test('one matching term is enough, and the node selector must match as well', () => {
  const required = { nodeSelectorTerms: [{}, { matchExpressions: [{ key: 'zone', operator: 'Exists' }] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  assert.equal(matchesNode(aPod({ spec: { affinity } }), node), true);
  assert.equal(matchesNode(aPod({ spec: { affinity, nodeSelector: { zone: 'a' } } }), node), true);
  assert.equal(matchesNode(aPod({ spec: { affinity, nodeSelector: { zone: 'b' } } }), node), false);
  assert.equal(matchesNode(aPod(), node), true);
});
