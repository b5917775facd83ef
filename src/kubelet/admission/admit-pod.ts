import type { AdmissionInput, Predicate, Refusal } from './admission-input.ts';
import { hostPortsPredicate } from './host-ports.ts';
import { nodeAffinityPredicate } from './node-affinity.ts';
import { nodeNamePredicate } from './node-name.ts';
import { nodeShutdownPredicate } from './node-shutdown.ts';
import { operatingSystemPredicate } from './operating-system.ts';
import { pressurePredicate } from './pressure.ts';
import { resourcesPredicate } from './resources.ts';
import { supplementalGroupsPredicate } from './supplemental-groups.ts';
import { sysctlsPredicate } from './sysctls.ts';
import { taintsPredicate } from './taints.ts';

export type Admission =
  | { readonly admitted: true }
  | (Refusal & {
      readonly admitted: false;
      /** The labels alone stand in the way: look at the Node in the API once more before refusing, they may have changed. */
      readonly nodeMayBeStale: boolean;
    });

/** The first refusal counts, so the order is part of the contract. */
const BEFORE_FIT: readonly Predicate[] = [pressurePredicate, sysctlsPredicate, operatingSystemPredicate, supplementalGroupsPredicate];
const FIT: readonly Predicate[] = [resourcesPredicate, nodeAffinityPredicate, nodeNamePredicate, hostPortsPredicate, taintsPredicate];

/** Whether the pod may run on this node. Critical pods do not push others out yet. */
export function admitPod(input: AdmissionInput): Admission {
  const early = firstRefusal(BEFORE_FIT, input);
  if (early !== undefined) return { admitted: false, nodeMayBeStale: false, ...early };
  const [first, ...others] = FIT.flatMap((predicate) => predicate(input) ?? []);
  if (first !== undefined) return { admitted: false, nodeMayBeStale: first.reason === 'NodeAffinity' && others.length === 0, ...first };
  const late = nodeShutdownPredicate(input);
  return late === undefined ? { admitted: true } : { admitted: false, nodeMayBeStale: false, ...late };
}

/** What the pod's status says of a refusal. */
export function rejectionMessage(refusal: Refusal): string {
  return `Pod was rejected: ${refusal.message}`;
}

function firstRefusal(predicates: readonly Predicate[], input: AdmissionInput): Refusal | undefined {
  for (const predicate of predicates) {
    const refusal = predicate(input);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
