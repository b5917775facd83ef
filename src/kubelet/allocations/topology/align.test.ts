import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import type { TopologyHint, TopologyHints } from '../provider.ts';
import { alignBy, type TopologyPolicy } from './align.ts';

const hint = (nodes: number, preferred = true): TopologyHint => ({ nodes, preferred });
const container = { name: 'main', image: 'a' };
const asked = (policy: TopologyPolicy, ...hints: readonly (readonly TopologyHint[])[]) =>
  alignBy(policy, [0, 1])(
    aPod(),
    container,
    hints.map((list, index): TopologyHints => new Map([[`resource-${index}`, list]])),
  );
const refused = { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };

test('the policy none asks nobody', () => assert.equal(asked('none', [hint(1)]), undefined));

test('what is common to all wishes is chosen, preferred before not, narrow before wide', () => {
  assert.deepEqual(asked('best-effort', [hint(1), hint(2)], [hint(2), hint(3, false)]), hint(2));
  assert.deepEqual(asked('best-effort', [hint(3, false), hint(1, false)], [hint(3)]), hint(1, false));
  assert.deepEqual(asked('restricted', [hint(1)]), hint(1));
  assert.deepEqual(asked('restricted'), hint(3));
});

test('best-effort lets in what cannot be together, restricted refuses it', () => {
  const apart = [[hint(1)], [hint(2)]] as const;
  assert.deepEqual(asked('best-effort', ...apart), hint(3, false));
  assert.deepEqual(asked('restricted', ...apart), refused);
  assert.deepEqual(asked('restricted', []), refused);
});

test('single-numa-node takes one node and nothing else', () => {
  assert.deepEqual(asked('single-numa-node', [hint(1), hint(3, false)], [hint(1), hint(2)]), hint(1));
  assert.deepEqual(asked('single-numa-node', [hint(3)]), refused);
  assert.deepEqual(asked('restricted', [hint(3)]), hint(3));
  assert.deepEqual(asked('single-numa-node'), hint(3));
});
