import type { NodeSelectorRequirement, NodeSelectorTerm } from '#api/types/core-v1.ts';
import type { AdmissionInput, AdmittingNode, Refusal } from './admission-input.ts';

/** `nodeSelector` and the required node affinity; terms are alternatives, what a term asks for must all hold. */
export function nodeAffinityPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isSelected = selector.every(([key, value]) => node.labels[key] === value);
  if (isSelected && (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node)))) return undefined;
  return { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" };
}

/** A term that asks for nothing matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: AdmittingNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { 'metadata.name': node.name };
  return matchExpressions.every((wish) => meets(wish, node.labels)) && matchFields.every((wish) => meets(wish, fields));
}

function meets({ key, operator, values = [] }: NodeSelectorRequirement, facts: Readonly<Record<string, string>>): boolean {
  const value = facts[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt':
      return isInteger(value) && isInteger(values[0]) && (operator === 'Gt' ? BigInt(value) > BigInt(values[0]) : BigInt(value) < BigInt(values[0]));
    default:
      return false;
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text);
}
