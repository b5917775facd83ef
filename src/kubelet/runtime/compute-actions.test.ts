import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import { computeActions } from './compute-actions.ts';
import { isSettled } from './pod-actions.ts';
import { type ActionRow, exited, noVerdicts, podOf, testActions } from './testing/action-rows.ts';
import { aContainer, aSandbox, observedOf } from './testing/observed.ts';

const probe = { exec: { command: ['true'] } };
const main = aSpec();
const init = aSpec({ name: 'init' });
const init2 = aSpec({ name: 'init2' });
const ready = aSandbox();
const dead = aSandbox({ ready: false });

const sandboxRows: readonly ActionRow[] = [
  {
    when: 'there is no sandbox',
    pod: podOf('Always'),
    observed: observedOf([]),
    want: { killPod: true, createSandbox: true, sandboxId: undefined, startContainers: ['main'] },
  },
  {
    when: 'two sandboxes are ready',
    pod: podOf('Always'),
    observed: observedOf([aSandbox({ attempt: 1 }), ready], [aContainer('main')]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 2, sandboxId: 'sandbox-1', startContainers: ['main'] },
  },
  {
    when: 'the sandbox died',
    pod: podOf('Always'),
    observed: observedOf([dead], [exited('main', 137)]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 1, startContainers: ['main'] },
  },
  {
    when: 'the sandbox died and the pod has init containers',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([dead], [exited('main'), exited('init2'), exited('init')]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 1, startInit: ['init'], initialised: false },
  },
  {
    when: 'the network mode of the sandbox is not the one of the pod',
    pod: aPod({ spec: { hostNetwork: true } }),
    observed: observedOf([ready]),
    want: { killPod: true, createSandbox: true, attempt: 1, sandboxId: undefined, startContainers: ['main'] },
  },
  {
    when: 'the sandbox has no address',
    pod: podOf('Always'),
    observed: observedOf([aSandbox({ ips: [] })]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 1, startContainers: ['main'] },
  },
  {
    when: 'policy Never, the sandbox died and something had run',
    pod: podOf('Never'),
    observed: observedOf([dead], [exited('main')]),
    want: { killPod: true, attempt: 1 },
  },
  {
    when: 'policy Never and the first sandbox died before anything ran',
    pod: podOf('Never'),
    observed: observedOf([dead]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 1, startContainers: ['main'] },
  },
  {
    when: 'policy OnFailure, the sandbox died and all had succeeded',
    pod: podOf('OnFailure'),
    observed: observedOf([dead], [exited('main')]),
    want: { killPod: true, attempt: 1 },
  },
  {
    when: 'policy OnFailure, the sandbox died and one of two had succeeded',
    pod: podOf('OnFailure', [main, aSpec({ name: 'other' })]),
    observed: observedOf([dead], [exited('main'), exited('other', 1)]),
    want: { killPod: true, createSandbox: true, sandboxChanged: true, attempt: 1, startContainers: ['other'] },
  },
];

const containerRows: readonly ActionRow[] = [
  { when: 'all runs', pod: podOf('Always'), observed: observedOf([ready], [aContainer('main')]), want: {} },
  { when: 'a container never ran', pod: podOf('Never'), observed: observedOf([ready]), want: { startContainers: ['main'] } },
  {
    when: 'a container was created only',
    pod: podOf('Never'),
    observed: observedOf([ready], [aContainer('main', { phase: 'created' })]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'a container failed, policy Always',
    pod: podOf('Always'),
    observed: observedOf([ready], [exited('main', 1)]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'a container succeeded, policy Always',
    pod: podOf('Always'),
    observed: observedOf([ready], [exited('main')]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'a container failed, policy OnFailure',
    pod: podOf('OnFailure'),
    observed: observedOf([ready], [exited('main', 2)]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'the only container succeeded, policy OnFailure',
    pod: podOf('OnFailure'),
    observed: observedOf([ready], [exited('main')]),
    want: { killPod: true },
  },
  {
    when: 'the only container failed, policy Never',
    pod: podOf('Never'),
    observed: observedOf([ready], [exited('main', 1)]),
    want: { killPod: true },
  },
  {
    when: 'one of two ended, policy Never',
    pod: podOf('Never', [main, aSpec({ name: 'other' })]),
    observed: observedOf([ready], [exited('main'), aContainer('other')]),
    want: {},
  },
  {
    when: 'a container is in an unknown state',
    pod: podOf('Always'),
    observed: observedOf([ready], [aContainer('main', { phase: 'unknown' })]),
    want: { startContainers: ['main'], kill: ['main-0: Container is in "unknown" state, try killing it before restart'] },
  },
  {
    when: 'the image changed, even with policy Never',
    pod: podOf('Never', [aSpec({ image: 'other' })]),
    observed: observedOf([ready], [aContainer('main')]),
    want: { startContainers: ['main'], kill: ['main-0: Container main definition changed, will be restarted'] },
  },
  {
    when: 'liveness failed',
    pod: podOf('Always', [aSpec({ livenessProbe: probe })]),
    observed: observedOf([ready], [aContainer('main')]),
    verdicts: (_id, kind) => (kind === 'liveness' ? 'failure' : undefined),
    want: { startContainers: ['main'], kill: ['main-0: Container main failed liveness probe, will be restarted'] },
  },
  {
    when: 'the startup probe failed, policy Never',
    pod: podOf('Never', [aSpec({ startupProbe: probe })]),
    observed: observedOf([ready], [aContainer('main')]),
    verdicts: (_id, kind) => (kind === 'startup' ? 'failure' : undefined),
    want: { kill: ['main-0: Container main failed startup probe'], killPod: true },
  },
  {
    when: 'an ephemeral container was added, and one ended before',
    pod: aPod({
      spec: {
        ephemeralContainers: [
          { name: 'debug', image: 'x' },
          { name: 'old', image: 'x' },
        ],
      },
    }),
    observed: observedOf([ready], [aContainer('main'), exited('old', 1)]),
    want: { startEphemeral: ['debug'] },
  },
  {
    when: 'a rule of the container restarts its exit code against policy Never',
    pod: podOf('Never', [aSpec({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] })]),
    observed: observedOf([ready], [exited('main', 42)]),
    want: { startContainers: ['main'] },
  },
];

testActions('sandbox', sandboxRows);
testActions('containers', containerRows);

test('a deleted pod starts nothing again', () => {
  const pod = aPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  assert.deepEqual(computeActions(pod, observedOf([ready], [exited('main', 1)]), noVerdicts).startContainers, []);
});

test('doing what was asked for ends: with every container running there is nothing left to do', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
  fc.assert(
    fc.property(names, names, fc.constantFrom('Always', 'OnFailure', 'Never'), (apps, sides, policy) => {
      const pod = podOf(
        policy,
        apps.map((name) => aSpec({ name })),
        sides.map((name) => aSpec({ name: `s-${name}`, restartPolicy: 'Always' })),
      );
      let observed = observedOf([ready]);
      for (let round = 0; round < 20; round += 1) {
        const actions = computeActions(pod, observed, noVerdicts);
        if (isSettled(actions)) return observed.containers.length === apps.length + sides.length;
        observed = observedOf(
          [ready],
          [...observed.containers, ...[...actions.startInit, ...actions.startContainers].map((name) => aContainer(name))],
        );
      }
      return false;
    }),
  );
});
