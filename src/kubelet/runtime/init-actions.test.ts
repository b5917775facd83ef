import { aContainer as aSpec } from '#api/testing/objects.ts';
import { type ActionRow, exited, podOf, testActions } from './testing/action-rows.ts';
import { aContainer, aSandbox, observedOf } from './testing/observed.ts';

const probe = { exec: { command: ['true'] } };
const main = aSpec();
const sidecar = aSpec({ name: 'side', restartPolicy: 'Always' });
const init = aSpec({ name: 'init' });
const init2 = aSpec({ name: 'init2' });
const ready = aSandbox();

const initRows: readonly ActionRow[] = [
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

testActions('init containers', initRows);
