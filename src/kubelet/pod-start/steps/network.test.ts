import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { Cell } from '#base/watchable.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { network } from './network.ts';

const { ref, signal } = new StepWorld();
const down = new Cell({ ready: false, detail: 'cni plugin not initialized' });

stepLaws('network', () => ({ step: network(new StepWorld().runtime), pod: ref, facts: { pod: aPod() } }));

test('without a network the pod waits until the network is there', async () => {
  assert.deepEqual(await network({ network: down }).run(ref, { pod: aPod() }, signal), {
    kind: 'wait',
    reason: 'NetworkNotReady',
    detail: 'network is not ready: cni plugin not initialized',
    wakeOn: [{ kind: 'network' }],
    atLatestMs: 1000,
  });
});

test('a pod in the network of the node does not care', async () => {
  const outcome = await network({ network: down }).run(ref, { pod: aPod({ spec: { hostNetwork: true } }) }, signal);
  assert.equal(outcome.kind, 'done');
});
