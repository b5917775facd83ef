import type { Container, Pod } from '#api/types/core-v1.ts';
import type { ContainerKind, PodRuntimePort, StartReason, StartResult } from '../../ports/pod-runtime.ts';
import { newestOf } from '../../runtime/pod-runtime-state.ts';
import type { ActionsFact, AddressFact, CgroupFact, ContainerFact, InitFact, PodFacts, SandboxFact, VolumeFact } from '../facts.ts';
import { startReasonDocs } from '../start-docs.ts';
import type { Step, Wait } from '../step.ts';

type Reads = Pick<PodFacts, 'pod' | 'observed'> & ActionsFact & CgroupFact & SandboxFact & AddressFact & VolumeFact & InitFact;
type Blocked = Extract<StartResult, { kind: 'blocked' }>;

/** Starts the app containers one after another; one that cannot start does not hold up the others. Their end is the end of the pod. */
export const containers = (runtime: PodRuntimePort): Step<Reads, ContainerFact, StartReason> => ({
  name: 'containers',
  title: 'Start the containers',
  reads: ['pod', 'observed', 'actions', 'cgroupPath', 'sandboxId', 'podIPs', 'mountedVolumes', 'initStates'],
  writes: ['containerStates'],
  slowAfterMs: 2000,
  reasons: startReasonDocs,
  async run(_pod, { pod, observed, actions, sandboxId, cgroupPath, podIPs, mountedVolumes }, signal) {
    const states: Record<string, string> = {};
    const blocked: (Blocked & { readonly container: string })[] = [];
    for (const [container, kind] of toStart(pod, actions)) {
      const request = { pod, container, kind, sandboxId, cgroupParent: cgroupPath, podIPs, volumes: mountedVolumes };
      const result = await runtime.startContainer(request, signal);
      if (result.kind === 'started') states[container.name] = result.containerId;
      else blocked.push({ ...result, container: container.name });
    }
    if (blocked.length > 0) return waitFor(blocked);
    for (const { name } of pod.spec?.containers ?? []) {
      const running = newestOf(observed, name);
      if (states[name] === undefined && running !== undefined) states[name] = running.id;
    }
    return { kind: 'done', writes: { containerStates: states } };
  },
  async undo(pod, _found, stop, signal) {
    await runtime.killPod(pod, stop, signal);
  },
});

function toStart(pod: Pod, { startEphemeral, startContainers }: ActionsFact['actions']): readonly (readonly [Container, ContainerKind])[] {
  const { ephemeralContainers = [], containers: apps = [] } = pod.spec ?? {};
  return [
    ...ephemeralContainers.filter(({ name }) => startEphemeral.includes(name)).map((container) => [container, 'ephemeral'] as const),
    ...apps.filter(({ name }) => startContainers.includes(name)).map((container) => [container, 'container'] as const),
  ];
}

function waitFor(blocked: readonly (Blocked & { readonly container: string })[]): Wait<StartReason> {
  const [first] = blocked;
  if (first === undefined) throw new Error('nothing is blocked');
  return {
    kind: 'wait',
    reason: first.reason,
    detail: blocked.map(({ container, message }) => `${container}: ${message}`).join('; '),
    wakeOn: blocked.flatMap(({ wakeOn }) => wakeOn),
    atLatestMs: Math.min(...blocked.map(({ retryInMs }) => retryInMs)),
  };
}
