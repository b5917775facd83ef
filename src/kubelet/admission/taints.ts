import { findUntolerated } from '#api/pod/taints.ts';
import { isStatic } from '../resources/critical.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

/** Only what drives running pods away counts here: where new pods may go is the scheduler's business. */
export function taintsPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (isStatic(pod) || findUntolerated(node.taints, pod.spec?.tolerations, ['NoExecute']) === undefined) return undefined;
  return { reason: 'TaintToleration', message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate" };
}
