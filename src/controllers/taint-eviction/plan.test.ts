import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aNode, aPod } from '#api/testing/objects.ts';
import { leftMs, planStay } from './plan.ts';

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const tainted = aNode({ spec: { taints: [unreachable] } });

function tolerating(tolerationSeconds?: number) {
  const toleration = { key: unreachable.key, operator: 'Exists', effect: 'NoExecute' };
  return aPod({ spec: { tolerations: [tolerationSeconds === undefined ? toleration : { ...toleration, tolerationSeconds }] } });
}

test('a pod stays as long as it tolerates the taints of its node, counted from when that was found out', () => {
  assert.equal(planStay(aPod(), aNode(), undefined, 1000), undefined);
  assert.equal(planStay(tolerating(), tainted, undefined, 1000), undefined);
  assert.deepEqual(planStay(aPod(), tainted, undefined, 1000), { seconds: 0, sinceMs: 1000 });
  const first = planStay(tolerating(300), tainted, undefined, 1000);
  assert.deepEqual(first, { seconds: 300, sinceMs: 1000 });
  assert.equal(planStay(tolerating(300), tainted, first, 9000), first);
  assert.deepEqual(planStay(tolerating(60), tainted, first, 9000), { seconds: 60, sinceMs: 9000 });
});

test('the time that is left runs out and never below nothing', () => {
  const stay = { seconds: 300, sinceMs: 1000 };
  assert.deepEqual([leftMs(stay, 1000), leftMs(stay, 300_999), leftMs(stay, 400_000)], [300_000, 1, 0]);
});
