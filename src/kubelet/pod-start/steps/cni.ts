import type { PodRuntimePort } from '../../ports/pod-runtime.ts';
import type { AddressFact, PodFacts, SandboxFact } from '../facts.ts';
import type { Step } from '../step.ts';

const retryMs = 10_000;

/**
 * Where the result of the network plugins enters our facts. The runtime itself calls them while it makes the sandbox; `sandbox` puts their
 * failures under a reason of its own.
 */
export const cni = (runtime: PodRuntimePort): Step<Pick<PodFacts, 'pod'> & SandboxFact, AddressFact, 'NoAddress'> => ({
  name: 'cni',
  title: 'Take over the addresses',
  reads: ['pod', 'sandboxId'],
  writes: ['podIPs'],
  slowAfterMs: 200,
  reasons: {
    NoAddress: {
      event: 'FailedCreatePodSandBox',
      severity: 'Warning',
      meaning: 'the sandbox is there, but the network plugins gave it no address',
      mend: 'check the ipam part of the CNI configuration: its range may be used up',
    },
  },
  async run(_pod, { pod, sandboxId }, signal) {
    if (pod.spec?.hostNetwork === true) return { kind: 'done', writes: { podIPs: [] } };
    const podIPs = await runtime.sandboxIps(sandboxId, signal);
    if (podIPs.length > 0) return { kind: 'done', writes: { podIPs } };
    return {
      kind: 'wait',
      reason: 'NoAddress',
      detail: 'Failed to create pod sandbox: it has no address',
      wakeOn: [{ kind: 'runtime' }],
      atLatestMs: retryMs,
    };
  },
});
