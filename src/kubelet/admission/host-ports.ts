import type { ContainerPort, Pod } from '#api/types/core-v1.ts';
import { isSidecar } from '../resources/pod-resources.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const ANY = '0.0.0.0';

/** A port of the node is taken by one pod; a port on all addresses is in the way of the same on any one. */
export function hostPortsPredicate({ pod, otherPods }: AdmissionInput): Refusal | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = otherPods.flatMap(hostPorts);
  if (!wanted.some((port) => taken.some((other) => collide(port, other)))) return undefined;
  return { reason: 'NodePorts', message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" };
}

function hostPorts({ spec }: Pod): readonly ContainerPort[] {
  const running = [...(spec?.initContainers ?? []).filter(isSidecar), ...(spec?.containers ?? [])];
  return running.flatMap(({ ports = [] }) => ports).filter(({ hostPort = 0 }) => hostPort > 0);
}

function collide(a: ContainerPort, b: ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || (a.protocol ?? 'TCP') !== (b.protocol ?? 'TCP')) return false;
  const [first, second] = [addressOf(a), addressOf(b)];
  return first === second || first === ANY || second === ANY;
}

function addressOf({ hostIP = '' }: ContainerPort): string {
  return hostIP === '' ? ANY : hostIP;
}
