import type { LabelRequirement } from '#api/label-selector-text.ts';
import { type Labels, meetsRequirement } from '#api/selector.ts';
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
  return (
    matchExpressions.every((requirement) => meets(requirement, node.metadata.labels)) &&
    matchFields.every((requirement) => meets(requirement, { 'metadata.name': node.metadata.name }))
  );
}

/** An operator that nobody knows selects nothing. */
function meets({ key, operator, values = [] }: NodeSelectorRequirement, facts: Labels): boolean {
  const known = operators.get(operator);
  return known !== undefined && meetsRequirement({ key, operator: known, values }, facts);
}

const operators: ReadonlyMap<string, LabelRequirement['operator']> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
  ['Gt', '>'],
  ['Lt', '<'],
] as const);
