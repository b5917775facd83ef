import { matchesNode } from '#api/pod/node-selector.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

export function nodeAffinityPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (matchesNode(pod, { metadata: { name: node.name, labels: node.labels } })) return undefined;
  return { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
}
