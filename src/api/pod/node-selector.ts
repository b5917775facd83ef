import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '#api/types/core-v1.ts';
import type { ObjectMeta } from '#api/types/meta-v1.ts';

/** What selectors look at. */
interface SelectableNode {
  readonly metadata: Pick<ObjectMeta, 'name' | 'labels'>;
}

/** Whether a node is one that the pod's `nodeSelector` and required node affinity ask for. */
export function matchesNode(pod: Pick<Pod, 'spec'>, node: SelectableNode): boolean {
  const labels = node.metadata.labels ?? {};
  const isSelected = Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return isSelected && (required === undefined || matchesNodeSelector(required, node));
}

/** One of the terms must match; a term matches when all of its requirements do, and an empty term never does. */
function matchesNodeSelector(selector: NodeSelector, node: SelectableNode): boolean {
  return selector.nodeSelectorTerms.some((term) => matchesNodeSelectorTerm(term, node));
}

export function matchesNodeSelectorTerm(term: NodeSelectorTerm, node: SelectableNode): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => meets(requirement, requirement.key === 'metadata.name' ? node.metadata.name : undefined))
  );
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
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
    case 'Lt': {
      const bound = values[0];
      if (value === undefined || bound === undefined || !isInteger(value) || !isInteger(bound)) return false;
      return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
    default:
      return false; // an operator that nobody knows selects nothing
  }
}

function isInteger(text: string): boolean {
  return /^[-+]?\d+$/.test(text);
}
