import type { Taint, Toleration } from '#api/types/core-v1.ts';
import { isStatic } from '../resources/critical.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

/** Only what drives running pods away counts here: where new pods may go is the scheduler's business. */
export function taintsPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (isStatic(pod)) return undefined;
  const taints = node.taints.filter(({ effect }) => effect === 'NoExecute');
  if (taints.every((taint) => toleratesTaint(pod.spec?.tolerations, taint))) return undefined;
  return { reason: 'TaintToleration', message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate" };
}

export function toleratesTaint(tolerations: readonly Toleration[] | undefined, taint: Pick<Taint, 'key' | 'value' | 'effect'>): boolean {
  return (tolerations ?? []).some((toleration) => covers(toleration, taint));
}

function covers({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Pick<Taint, 'key' | 'value' | 'effect'>): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && key !== '' && value === (taint.value ?? '');
}
