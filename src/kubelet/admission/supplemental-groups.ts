import type { AdmissionInput, Refusal } from './admission-input.ts';

export function supplementalGroupsPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (pod.spec?.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.hasSupplementalGroupsPolicy) return undefined;
  return { reason: 'SupplementalGroupsPolicyNotSupported', message: 'SupplementalGroupsPolicy=Strict is not supported in this node' };
}
