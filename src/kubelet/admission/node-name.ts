import type { AdmissionInput, Refusal } from './admission-input.ts';

export function nodeNamePredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  const wanted = pod.spec?.nodeName ?? '';
  if (wanted === '' || wanted === node.name) return undefined;
  return { reason: 'NodeName', message: "Predicate NodeName failed: node(s) didn't match the requested node name" };
}
