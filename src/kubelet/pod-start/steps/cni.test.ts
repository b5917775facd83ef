import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '#api/testing/objects.ts';
import { stepLaws } from '../testing/step-laws.ts';
import { StepWorld } from '../testing/step-world.ts';
import { cni } from './cni.ts';

const { ref, pod, signal, runtime } = new StepWorld();
const withIps = (ips: readonly string[]) => Object.assign(Object.create(runtime), { sandboxIps: async () => ips });

stepLaws('cni', () => ({ step: cni(withIps(['10.0.0.2', 'fd00::2'])), pod: ref, facts: { pod, sandboxId: 's' } }));

test('all addresses are taken over, the primary one first', async () => {
  const outcome = await cni(withIps(['10.0.0.2', 'fd00::2'])).run(ref, { pod, sandboxId: 's' }, signal);
  assert.deepEqual(outcome, { kind: 'done', writes: { podIPs: ['10.0.0.2', 'fd00::2'] } });
});

test('a sandbox without an address is a failure of the network', async () => {
  const outcome = await cni(withIps([])).run(ref, { pod, sandboxId: 's' }, signal);
  assert.equal(outcome.kind === 'wait' && outcome.reason, 'NoAddress');
});

test('a pod in the network of the node has no address of its own', async () => {
  const outcome = await cni(withIps([])).run(ref, { pod: aPod({ spec: { hostNetwork: true } }), sandboxId: 's' }, signal);
  assert.deepEqual(outcome, { kind: 'done', writes: { podIPs: [] } });
});
