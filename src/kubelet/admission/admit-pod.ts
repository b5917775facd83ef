import { isCritical } from '../resources/critical.ts';
import type { AdmissionInput, Predicate, Refusal } from './admission-input.ts';
import { appArmorPredicate } from './app-armor.ts';
import { hostPortsPredicate } from './host-ports.ts';
import { nodeAffinityPredicate } from './node-affinity.ts';
import { nodeNamePredicate } from './node-name.ts';
import { nodeShutdownPredicate } from './node-shutdown.ts';
import { operatingSystemPredicate } from './operating-system.ts';
import { pressurePredicate } from './pressure.ts';
import { type Shortage, shortageRefusal, shortages } from './resources.ts';
import { supplementalGroupsPredicate } from './supplemental-groups.ts';
import { sysctlsPredicate } from './sysctls.ts';
import { taintsPredicate } from './taints.ts';

export type Admission =
  | { readonly admitted: true }
  | (Refusal & {
      readonly admitted: false;
      /** The labels alone stand in the way: look at the Node in the API once more before refusing, they may have changed. */
      readonly nodeMayBeStale: boolean;
      /** A critical pod lacks only this: others may have to make room. */
      readonly lacks: readonly Shortage[];
    });

/** The first refusal counts, so the order is part of the contract. */
const BEFORE_FIT: readonly Predicate[] = [pressurePredicate, sysctlsPredicate, operatingSystemPredicate, supplementalGroupsPredicate];
const FIT: readonly Predicate[] = [nodeAffinityPredicate, nodeNamePredicate, hostPortsPredicate, taintsPredicate];
const AFTER_FIT: readonly Predicate[] = [appArmorPredicate, nodeShutdownPredicate];

/** Whether the pod may run on this node. */
export function admitPod(input: AdmissionInput): Admission {
  const early = input.alreadyRuns === true ? undefined : firstRefusal(BEFORE_FIT, input);
  if (early !== undefined) return { admitted: false, nodeMayBeStale: false, lacks: [], ...early };
  const short = shortages(input);
  const misfits = FIT.flatMap((predicate) => predicate(input) ?? []);
  const late = input.alreadyRuns === true ? undefined : firstRefusal(AFTER_FIT, input);
  const mayPreempt = isCritical(input.pod);
  // A critical pod that others would make room for is told what else is in the way.
  const [first] = mayPreempt && misfits.length > 0 ? misfits : [...short.map(shortageRefusal), ...misfits];
  if (first !== undefined) {
    const nodeMayBeStale = short.length === 0 && misfits.length === 1 && first.reason === 'NodeAffinity';
    const lacks = mayPreempt && misfits.length === 0 && late === undefined ? short : [];
    return { admitted: false, nodeMayBeStale, lacks, ...first };
  }
  return late === undefined ? { admitted: true } : { admitted: false, nodeMayBeStale: false, lacks: [], ...late };
}

function firstRefusal(predicates: readonly Predicate[], input: AdmissionInput): Refusal | undefined {
  for (const predicate of predicates) {
    const refusal = predicate(input);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
