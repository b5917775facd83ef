import { type HostPort, hostPorts } from '#api/pod/host-ports.ts';
import { podRequests, type Resources } from '#api/pod/requests.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';

/** A pod and what it takes of a node, worked out once. */
export interface PodDemand {
  readonly pod: Pod;
  /** Only what is asked for in an amount above 0. */
  readonly requests: Resources;
  /** As `requests`, with upstream's guess for containers that ask for nothing: what scores count. */
  readonly guessed: { readonly cpu: number; readonly memory: number };
  readonly ports: readonly HostPort[];
  readonly priority: number;
}

/** Upstream's: 100 millicores and 200 MiB, so that pods without requests spread too. */
const GUESS: Readonly<Record<string, string>> = { cpu: '100m', memory: '200Mi' };

export function podDemand(pod: Pod): PodDemand {
  const guessed = podRequests(withGuesses(pod));
  return {
    pod,
    requests: new Map([...podRequests(pod)].filter(([, amount]) => amount > 0)),
    guessed: { cpu: guessed.get('cpu') ?? 0, memory: guessed.get('memory') ?? 0 },
    ports: hostPorts(pod),
    priority: pod.spec?.priority ?? 0,
  };
}

function withGuesses(pod: Pod): Pick<Pod, 'spec'> {
  if (pod.spec === undefined) return {};
  const guess = (container: Container): Container => ({
    ...container,
    resources: { ...container.resources, requests: { ...GUESS, ...container.resources?.requests } },
  });
  return { spec: { ...pod.spec, containers: pod.spec.containers.map(guess), initContainers: (pod.spec.initContainers ?? []).map(guess) } };
}
