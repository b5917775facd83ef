import type { Watchable } from '#base/watchable.ts';
import type { NetworkState } from '../../ports/node-facts.ts';
import type { PodFacts } from '../facts.ts';
import type { Step } from '../step.ts';

const lookAgainMs = 1000;

/** Pods with a network of their own wait until the runtime has one to give; nobody asks the runtime here, one watcher does for all. */
export const network = (runtime: { readonly network: Watchable<NetworkState> }): Step<Pick<PodFacts, 'pod'>, object, 'NetworkNotReady'> => ({
  name: 'network',
  title: 'Check that the network is there',
  reads: ['pod'],
  writes: [],
  slowAfterMs: 100,
  reasons: {
    NetworkNotReady: {
      event: 'NetworkNotReady',
      severity: 'Warning',
      meaning: 'the container runtime has no network configuration that works',
      mend: 'check the CNI configuration folder and its plugins; the pod starts by itself when the network is there',
    },
  },
  async run(_pod, { pod }) {
    const { ready, detail } = runtime.network.get();
    if (ready || pod.spec?.hostNetwork === true) return { kind: 'done', writes: {} };
    return {
      kind: 'wait',
      reason: 'NetworkNotReady',
      detail: `network is not ready: ${detail}`,
      wakeOn: [{ kind: 'network' }],
      atLatestMs: lookAgainMs,
    };
  },
});
