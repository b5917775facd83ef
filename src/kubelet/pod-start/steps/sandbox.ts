import { CniFailed } from '#wire/cri/errors.ts';
import type { PodRuntimePort } from '../../ports/pod-runtime.ts';
import type { ActionsFact, CgroupFact, DirectoryFact, PodFacts, SandboxFact } from '../facts.ts';
import { waitAfter } from '../failure.ts';
import type { Step, StopRequest } from '../step.ts';

const reservedRetryMs = 25;

type Reads = Pick<PodFacts, 'pod'> & ActionsFact & CgroupFact & DirectoryFact;

/** The pod's sandbox: the pause process whose namespaces its containers share. The one that is there is kept. */
export const sandbox = (runtime: PodRuntimePort): Step<Reads, SandboxFact, 'FailedCreatePodSandBox' | 'CniFailed' | 'SandboxNameReserved'> => ({
  name: 'sandbox',
  title: 'Make the sandbox',
  reads: ['pod', 'actions', 'cgroupPath', 'podDir'],
  writes: ['sandboxId'],
  slowAfterMs: 1000,
  reasons: {
    FailedCreatePodSandBox: {
      event: 'FailedCreatePodSandBox',
      severity: 'Warning',
      meaning: 'the container runtime could not make the sandbox of the pod',
      mend: "the message is the runtime's own; its log tells more",
    },
    CniFailed: {
      event: 'FailedCreatePodSandBox',
      severity: 'Warning',
      meaning: 'a network plugin failed while it set up the network of the pod',
      mend: 'check the CNI configuration that the message names, and that its plugins and their address range are there',
    },
    SandboxNameReserved: {
      event: undefined,
      severity: 'Normal',
      meaning: 'an earlier request for the same sandbox has not ended in the container runtime',
      mend: 'nothing: another attempt is made if it does not end',
    },
  },
  async run(_pod, { pod, actions, cgroupPath }, signal) {
    if (!actions.createSandbox && actions.sandboxId !== undefined) return { kind: 'done', writes: { sandboxId: actions.sandboxId } };
    try {
      const made = await runtime.createSandbox(pod, actions.attempt, cgroupPath, signal);
      if (made.kind === 'ready') return { kind: 'done', writes: { sandboxId: made.sandboxId } };
    } catch (error) {
      const reason = error instanceof CniFailed ? 'CniFailed' : 'FailedCreatePodSandBox';
      return waitAfter(error, reason, (detail) => `Failed to create pod sandbox: ${detail}`);
    }
    const detail = 'the runtime still works on an earlier request for this sandbox';
    return { kind: 'wait', reason: 'SandboxNameReserved', detail, wakeOn: [{ kind: 'time' }], atLatestMs: reservedRetryMs };
  },
  async find(pod, signal) {
    const { sandboxes } = await runtime.read(pod, signal);
    return sandboxes[0] === undefined ? {} : { sandboxId: sandboxes[0].id };
  },
  async undo(pod, _found, stop, signal) {
    await runtime.stopSandboxes(pod, signal);
    if (leavesNothing(stop)) await runtime.removeAll(pod, signal);
  },
});

/** The records and logs of a finished pod stay readable until its object is deleted. */
function leavesNothing({ reason }: StopRequest): boolean {
  return reason === 'deleted' || reason === 'orphan';
}
