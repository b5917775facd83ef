import type { PodRuntimePort } from '../../ports/pod-runtime.ts';
import type { ActionsFact, PodFacts } from '../facts.ts';
import { waitAfter } from '../failure.ts';
import type { Step } from '../step.ts';

const lookAgainMs = 60_000;

/** Stops what must not run: containers that are to be replaced, or everything when the pod needs another sandbox. */
export const kill = (
  runtime: PodRuntimePort,
): Step<Pick<PodFacts, 'pod' | 'observed'> & ActionsFact, object, 'FailedKillPod' | 'NothingToRun' | 'AllRestart'> => ({
  name: 'kill',
  title: 'Stop what must not run',
  reads: ['pod', 'observed', 'actions'],
  writes: [],
  slowAfterMs: 35_000,
  reasons: {
    FailedKillPod: {
      event: 'FailedKillPod',
      severity: 'Warning',
      meaning: 'the container runtime could not stop a container of the pod',
      mend: "look for the container's process on the node: one that hangs in the kernel cannot be killed",
    },
    NothingToRun: {
      event: undefined,
      severity: 'Normal',
      meaning: "the pod's restart policy allows no further run of anything in it",
      mend: 'delete the pod and create it again',
    },
    AllRestart: {
      event: undefined,
      severity: 'Normal',
      meaning: 'a container ended with an exit code for which its rules ask that all containers of the pod start again',
      mend: 'read why it ended: kubectl logs POD -c CONTAINER --previous',
    },
  },
  async run(_pod, { pod, observed, actions }, signal) {
    try {
      if (actions.restartAll === true) {
        await runtime.stopAll(pod, 'restart', signal);
        return { kind: 'wait', reason: 'AllRestart', detail: 'all containers start again', wakeOn: [{ kind: 'runtime' }], atLatestMs: lookAgainMs };
      }
      if (actions.killPod) {
        const somethingIsThere = observed.sandboxes.length + observed.containers.length > 0;
        if (somethingIsThere) await runtime.stopAll(pod, actions.sandboxChanged ? 'new-sandbox' : 'end', signal);
      } else for (const one of actions.kill) await runtime.killContainer(pod, one, signal);
    } catch (error) {
      return waitAfter(error, 'FailedKillPod', (detail) => `error killing pod: ${detail}`);
    }
    if (!actions.killPod || actions.createSandbox) return { kind: 'done', writes: {} };
    return {
      kind: 'wait',
      reason: 'NothingToRun',
      detail: 'nothing in the pod may run again',
      wakeOn: [{ kind: 'runtime' }],
      atLatestMs: lookAgainMs,
    };
  },
});
