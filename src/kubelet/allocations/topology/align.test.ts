import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TopologyHint, TopologyHints } from '../provider.ts';
import { alignBy, type TopologyPolicy } from './align.ts';

const hint = (nodes: number, preferred = true): TopologyHint => ({ nodes, preferred });
const asked = (policy: TopologyPolicy, ...hints: readonly (readonly TopologyHint[])[]) =>
  alignBy(policy, [0, 1])(() => hints.map((list, index): TopologyHints => new Map([[`resource-${index}`, list]])));
const refused = { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };

test('the policy none asks nobody', () => assert.equal(asked('none', [hint(1)]), undefined));

test('what is common to all wishes is chosen, preferred before not, narrow before wide', () => {
  assert.deepEqual(asked('best-effort', [hint(1), hint(2)], [hint(2), hint(3, false)]), hint(2));
  assert.deepEqual(asked('best-effort', [hint(3, false), hint(1, false)], [hint(3)]), hint(3, false)); // the second needs both
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

test('with nothing preferred the set that just holds what needs most is chosen, and among equals the nearer one where that is asked', () => {
  const nodes = [0, 1, 2, 3];
  const wish = (list: readonly TopologyHint[]) => () => [new Map([['devices', list]])];
  assert.deepEqual(alignBy('best-effort', nodes)(wish([hint(15, false), hint(7, false), hint(3, false)])), hint(3, false));
  assert.deepEqual(alignBy('restricted', nodes)(wish([hint(3), hint(5), hint(12)])), hint(3));
  // Nodes 2 and 3 are neighbours, all others are far from each other.
  const distance = (from: number, to: number) => (from === to ? 10 : from + to === 5 && from > 1 && to > 1 ? 11 : 20);
  assert.deepEqual(alignBy('restricted', nodes, distance)(wish([hint(3), hint(5), hint(12)])), hint(12));
});

test('what is chosen is common to one wish of each, and preferred only if all prefer the same', () => {
  const anyHint = fc.record({ nodes: fc.integer({ min: 1, max: 7 }), preferred: fc.boolean() });
  fc.assert(
    fc.property(fc.array(fc.array(anyHint, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }), (lists) => {
      const hints = lists.map((list, index): TopologyHints => new Map([[`r${index}`, list]]));
      const best = alignBy('best-effort', [0, 1, 2])(() => hints);
      assert.ok(best !== undefined && 'nodes' in best);
      if (best.preferred) assert.ok(lists.every((list) => list.some(({ nodes, preferred }) => preferred && nodes === best.nodes)));
      else assert.ok(!lists[0]?.some((one) => one.preferred && lists.every((list) => list.some((o) => o.preferred && o.nodes === one.nodes))));
      const strict = alignBy('restricted', [0, 1, 2])(() => hints);
      assert.deepEqual(strict, best.preferred ? best : refused);
    }),
  );
});
