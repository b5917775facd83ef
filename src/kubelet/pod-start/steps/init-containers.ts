import { isSidecar } from '#api/pod/sidecars.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { PodRuntimePort, StartReason } from '../../ports/pod-runtime.ts';
import type { ActionsFact, AddressFact, CgroupFact, InitFact, PodFacts, SandboxFact, VolumeFact } from '../facts.ts';
import { startReasonDocs } from '../start-docs.ts';
import type { Step } from '../step.ts';

const lookAgainMs = 60_000;

type Reads = Pick<PodFacts, 'pod'> & ActionsFact & CgroupFact & SandboxFact & AddressFact & VolumeFact;

/** Starts the init container whose turn it is; each one that ends, and each sidecar that has started, gives the turn on. */
export const initContainers = (runtime: PodRuntimePort): Step<Reads, InitFact, StartReason | 'InitContainerRuns'> => ({
  name: 'init-containers',
  title: 'Run the init containers',
  reads: ['pod', 'actions', 'cgroupPath', 'sandboxId', 'podIPs', 'mountedVolumes'],
  writes: ['initStates'],
  slowAfterMs: 60_000,
  reasons: {
    ...startReasonDocs,
    InitContainerRuns: {
      event: undefined,
      severity: 'Normal',
      meaning: 'an init container has not done its work yet, or a sidecar has not started',
      mend: 'read what it does: kubectl logs POD -c CONTAINER',
    },
  },
  async run(_pod, { pod, actions, sandboxId, cgroupPath, podIPs, mountedVolumes }, signal) {
    const inits = pod.spec?.initContainers ?? [];
    for (const container of inits.filter(({ name }) => actions.startInit.includes(name))) {
      const request = { pod, container, kind: 'init', sandboxId, cgroupParent: cgroupPath, podIPs, volumes: mountedVolumes } as const;
      const result = await runtime.startContainer(request, signal);
      // A sidecar that fails to start is tried again without stopping those that can go on.
      if (result.kind === 'blocked' && (!isSidecar(container) || !actions.initialised)) {
        return {
          kind: 'wait',
          reason: result.reason,
          detail: `${container.name}: ${result.message}`,
          wakeOn: result.wakeOn,
          atLatestMs: result.retryInMs,
        };
      }
    }
    if (actions.initialised) return { kind: 'done', writes: { initStates: statesOf(pod) } };
    const names = actions.startInit.length > 0 ? actions.startInit.join(', ') : 'the init container';
    return { kind: 'wait', reason: 'InitContainerRuns', detail: `${names} runs`, wakeOn: [{ kind: 'runtime' }], atLatestMs: lookAgainMs };
  },
});

function statesOf(pod: Pod): InitFact['initStates'] {
  return Object.fromEntries((pod.spec?.initContainers ?? []).map((container) => [container.name, isSidecar(container) ? 'running' : 'done']));
}
