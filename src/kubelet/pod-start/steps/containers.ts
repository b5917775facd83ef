import type { BlockedStart, PodRuntimePort, StartReason } from '../../ports/pod-runtime.ts';
import { newestOf } from '../../runtime/pod-runtime-state.ts';
import type { ActionsFact, AddressFact, BesideFact, CgroupFact, ContainerFact, InitFact, PodFacts, SandboxFact, VolumeFact } from '../facts.ts';
import { waitForStarts } from '../failure.ts';
import { startReasonDocs } from '../start-docs.ts';
import type { Step } from '../step.ts';

type Reads = Pick<PodFacts, 'pod' | 'observed'> & ActionsFact & CgroupFact & SandboxFact & AddressFact & VolumeFact & InitFact & BesideFact;

/** Starts the app containers one after another; one that cannot start does not hold up the others. Their end is the end of the pod. */
export const containers = (runtime: PodRuntimePort): Step<Reads, ContainerFact, StartReason> => ({
  name: 'containers',
  title: 'Start the containers',
  reads: ['pod', 'observed', 'actions', 'cgroupPath', 'sandboxId', 'podIPs', 'mountedVolumes', 'initStates', 'blockedBeside'],
  writes: ['containerStates'],
  slowAfterMs: 2000,
  reasons: startReasonDocs,
  async run(_pod, { pod, observed, actions, sandboxId, cgroupPath, podIPs, mountedVolumes, blockedBeside }, signal) {
    const states: Record<string, string> = {};
    const blocked: BlockedStart[] = [...blockedBeside];
    for (const container of (pod.spec?.containers ?? []).filter(({ name }) => actions.startContainers.includes(name))) {
      const request = { pod, container, kind: 'container', sandboxId, cgroupParent: cgroupPath, podIPs, volumes: mountedVolumes } as const;
      const result = await runtime.startContainer(request, signal);
      if (result.kind === 'started') states[container.name] = result.containerId;
      else blocked.push({ ...result, container: container.name });
    }
    if (blocked.length > 0) return waitForStarts(blocked);
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
