import { findConflict, hostPorts } from '#api/pod/host-ports.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

/** A port of the node is taken by one pod; a port on all addresses is in the way of the same on any one. */
export function hostPortsPredicate({ pod, otherPods }: AdmissionInput): Refusal | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0 || findConflict(wanted, otherPods.flatMap(hostPorts)) === undefined) return undefined;
  return { reason: 'NodePorts', message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports" };
}
