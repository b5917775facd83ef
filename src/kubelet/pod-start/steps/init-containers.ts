import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { BlockedStart, ContainerKind, PodRuntimePort, StartReason } from '../../ports/pod-runtime.ts';
import type { ActionsFact, AddressFact, BesideFact, CgroupFact, InitFact, PodFacts, SandboxFact, VolumeFact } from '../facts.ts';
import { waitForStarts } from '../failure.ts';
import { startReasonDocs } from '../start-docs.ts';
import type { Step } from '../step.ts';

const lookAgainMs = 60_000;

type Reads = Pick<PodFacts, 'pod'> & ActionsFact & CgroupFact & SandboxFact & AddressFact & VolumeFact;

/**
 * Starts the init container whose turn it is; each one that ends, and each sidecar that has started, gives the turn on. Ephemeral containers
 * have no turn: somebody wants to look into the pod, and it may be an init container that they look for.
 */
export const initContainers = (runtime: PodRuntimePort): Step<Reads, InitFact & BesideFact, StartReason | 'InitContainerRuns'> => ({
  name: 'init-containers',
  title: 'Run the init containers',
  reads: ['pod', 'actions', 'cgroupPath', 'sandboxId', 'podIPs', 'mountedVolumes'],
  writes: ['initStates', 'blockedBeside'],
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
    const blocked: BlockedStart[] = [];
    for (const [container, kind] of toStart(pod, actions)) {
      const request = { pod, container, kind, sandboxId, cgroupParent: cgroupPath, podIPs, volumes: mountedVolumes };
      const result = await runtime.startContainer(request, signal);
      if (result.kind === 'blocked') blocked.push({ ...result, container: container.name });
      if (result.kind === 'blocked' && kind === 'init' && !isSidecar(container)) break; // nobody gets a turn behind it
    }
    if (actions.initialised) return { kind: 'done', writes: { initStates: statesOf(pod), blockedBeside: blocked } };
    if (blocked.length > 0) return waitForStarts(blocked);
    const names = actions.startInit.length > 0 ? actions.startInit.join(', ') : 'the init container';
    return { kind: 'wait', reason: 'InitContainerRuns', detail: `${names} runs`, wakeOn: [{ kind: 'runtime' }], atLatestMs: lookAgainMs };
  },
});

function toStart(pod: Pod, { startEphemeral, startInit }: ActionsFact['actions']): readonly (readonly [Container, ContainerKind])[] {
  const { ephemeralContainers = [], initContainers: inits = [] } = pod.spec ?? {};
  return [
    ...ephemeralContainers.filter(({ name }) => startEphemeral.includes(name)).map((container) => [container, 'ephemeral'] as const),
    ...inits.filter(({ name }) => startInit.includes(name)).map((container) => [container, 'init'] as const),
  ];
}

function statesOf(pod: Pod): InitFact['initStates'] {
  return Object.fromEntries((pod.spec?.initContainers ?? []).map((container) => [container.name, isSidecar(container) ? 'running' : 'done']));
}
