import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { computeActions } from './compute-actions.ts';
import { isSettled, type PodActions, type ProbeVerdicts } from './pod-actions.ts';
import type { PodRuntimeState } from './pod-runtime-state.ts';
import { aContainer, aSandbox, observedOf } from './testing/observed.ts';

const none: ProbeVerdicts = () => undefined;
const probe = { exec: { command: ['true'] } };
const main = aSpec();
const sidecar = aSpec({ name: 'side', restartPolicy: 'Always' });
const init = aSpec({ name: 'init' });
const init2 = aSpec({ name: 'init2' });

function podOf(restartPolicy: string, containers: readonly Container[] = [main], initContainers: readonly Container[] = []): Pod {
  return aPod({ spec: { restartPolicy, containers, initContainers } });
}
const exited = (name: string, exitCode = 0, over = {}) => aContainer(name, { phase: 'exited', exitCode, ...over });
const ready = aSandbox();
const dead = aSandbox({ ready: false });

/** A row shows only what differs from "leave everything as it is". */
interface Row {
  readonly when: string;
  readonly pod: Pod;
  readonly observed: PodRuntimeState;
  readonly verdicts?: ProbeVerdicts;
  readonly want: Partial<Omit<PodActions, 'kill'>> & { readonly kill?: readonly string[] };
}

const sandboxRows: readonly Row[] = [
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

const containerRows: readonly Row[] = [
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

const initRows: readonly Row[] = [
  {
    when: 'nothing ran yet',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([ready]),
    want: { startInit: ['init'], initialised: false },
  },
  {
    when: 'an init container runs',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([ready], [aContainer('init')]),
    want: { initialised: false },
  },
  {
    when: 'an init container was created only',
    pod: podOf('Always', [main], [init]),
    observed: observedOf([ready], [aContainer('init', { phase: 'created' })]),
    want: { startInit: ['init'], initialised: false },
  },
  {
    when: 'the first init container succeeded',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([ready], [exited('init')]),
    want: { startInit: ['init2'], initialised: false },
  },
  {
    when: 'the last init container succeeded',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([ready], [exited('init2'), exited('init')]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'the record of the first is gone, the last succeeded',
    pod: podOf('Always', [main], [init, init2]),
    observed: observedOf([ready], [exited('init2')]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'an init container failed, policy Always',
    pod: podOf('Always', [main], [init]),
    observed: observedOf([ready], [exited('init', 1)]),
    want: { startInit: ['init'], initialised: false },
  },
  {
    when: 'an init container failed, policy Never',
    pod: podOf('Never', [main], [init]),
    observed: observedOf([ready], [exited('init', 1)]),
    want: { killPod: true, initialised: false },
  },
  {
    when: 'all init records are gone, the app runs',
    pod: podOf('Always', [main], [init]),
    observed: observedOf([ready], [aContainer('main')]),
    want: {},
  },
  {
    when: 'all exited after a reboot of the node',
    pod: podOf('Always', [main], [init]),
    observed: observedOf([ready], [exited('main')]),
    want: { startInit: ['init'], initialised: false },
  },
  {
    when: 'an init container is in an unknown state',
    pod: podOf('Always', [main], [init]),
    observed: observedOf([ready], [aContainer('init', { phase: 'unknown' })]),
    want: { startInit: ['init'], initialised: false, kill: ['init-0: Init container init is in "unknown" state, try killing it before restart'] },
  },
  {
    when: 'a sidecar runs and is the last',
    pod: podOf('Always', [main], [sidecar]),
    observed: observedOf([ready], [aContainer('side')]),
    want: { startContainers: ['main'] },
  },
  {
    when: 'a sidecar runs, an ordinary one comes next',
    pod: podOf('Always', [main], [sidecar, init]),
    observed: observedOf([ready], [aContainer('side')]),
    want: { startInit: ['init'], initialised: false },
  },
  {
    when: 'a sidecar with a startup probe has no verdict yet',
    pod: podOf('Always', [main], [aSpec({ ...sidecar, startupProbe: probe }), init]),
    observed: observedOf([ready], [aContainer('side')]),
    want: { initialised: false },
  },
  {
    when: 'a sidecar died while the app runs, policy Never',
    pod: podOf('Never', [main], [sidecar]),
    observed: observedOf([ready], [aContainer('main'), exited('side', 1)]),
    want: { startInit: ['side'] },
  },
  {
    when: 'the record of a sidecar is gone while a later init container runs',
    pod: podOf('Always', [main], [sidecar, init]),
    observed: observedOf([ready], [aContainer('init')]),
    want: { startInit: ['side'], initialised: false },
  },
  {
    when: 'the app has succeeded and only a sidecar runs, policy OnFailure',
    pod: podOf('OnFailure', [main], [sidecar]),
    observed: observedOf([ready], [exited('main'), aContainer('side')]),
    want: { killPod: true },
  },
  {
    when: 'all is dead, policy Never: the phase has ended the pod before this table is asked',
    pod: podOf('Never', [main], [sidecar]),
    observed: observedOf([ready], [exited('main'), exited('side', 1)]),
    want: { startInit: ['side'], initialised: false },
  },
  {
    when: 'a running sidecar fails its liveness probe',
    pod: podOf('Always', [main], [aSpec({ ...sidecar, livenessProbe: probe })]),
    observed: observedOf([ready], [aContainer('main'), aContainer('side')]),
    verdicts: (id, kind) => (id === 'side-0' && kind === 'liveness' ? 'failure' : undefined),
    want: { startInit: ['side'], kill: ['side-0: Init container side failed liveness probe'] },
  },
];

for (const [table, rows] of Object.entries({ sandbox: sandboxRows, containers: containerRows, 'init containers': initRows })) {
  for (const { when, pod, observed, verdicts = none, want } of rows) {
    test(`${table}: ${when}`, () => {
      const { kill, ...actions } = computeActions(pod, observed, verdicts);
      const asIs = {
        killPod: false,
        createSandbox: false,
        sandboxChanged: false,
        attempt: 0,
        sandboxId: 'sandbox-0',
        startEphemeral: [],
        startInit: [],
        startContainers: [],
        initialised: true,
      };
      assert.deepEqual({ ...actions, kill: kill.map(({ container, message }) => `${container.id}: ${message}`) }, { ...asIs, kill: [], ...want });
    });
  }
}

test('a deleted pod starts nothing again', () => {
  const pod = aPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  assert.deepEqual(computeActions(pod, observedOf([ready], [exited('main', 1)]), none).startContainers, []);
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
        const actions = computeActions(pod, observed, none);
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
