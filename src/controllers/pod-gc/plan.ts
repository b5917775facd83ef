import type { Node, Pod } from '#api/types/core-v1.ts';

export interface PodGcFacts {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** Nodes that pods name and that have been gone for the whole quarantine. */
  readonly goneNodes: ReadonlySet<string>;
  /** Pods that are done are kept up to this number. */
  readonly terminatedLimit: number;
}

export type PodGcReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled';

export interface PodToDelete {
  readonly pod: Pod;
  readonly reason: PodGcReason;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** Which pods nobody else will ever delete; each once, in upstream's order. Pure. */
export function planPodGc(facts: PodGcFacts): readonly PodToDelete[] {
  const lost = new Set(facts.nodes.filter(isLost).map((node) => node.metadata.name));
  const isDeleting = (pod: Pod) => pod.metadata.deletionTimestamp !== undefined;
  const nodeOf = (pod: Pod) => pod.spec?.nodeName ?? '';
  const wanted: readonly PodToDelete[] = [
    ...surplus(facts).map((pod) => ({ pod, reason: 'terminated' as const })),
    ...facts.pods.filter((pod) => isDeleting(pod) && lost.has(nodeOf(pod))).map((pod) => ({ pod, reason: 'out-of-service' as const })),
    ...facts.pods.filter((pod) => facts.goneNodes.has(nodeOf(pod))).map((pod) => ({ pod, reason: 'orphaned' as const })),
    ...facts.pods.filter((pod) => isDeleting(pod) && nodeOf(pod) === '').map((pod) => ({ pod, reason: 'unscheduled' as const })),
  ];
  const seen = new Set<string>();
  return wanted.filter(({ pod }) => !seen.has(pod.metadata.uid) && seen.add(pod.metadata.uid));
}

export function isTerminated(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** The names of nodes that pods are on and that do not exist. */
export function missingNodes(pods: readonly Pod[], nodes: readonly Node[]): ReadonlySet<string> {
  const missing = new Set(pods.map((pod) => pod.spec?.nodeName ?? '').filter((name) => name !== ''));
  for (const node of nodes) missing.delete(node.metadata.name);
  return missing;
}

/** Pods that are done beyond the limit: evicted ones first, then the oldest. */
function surplus({ pods, terminatedLimit }: PodGcFacts): readonly Pod[] {
  const done = pods.filter((pod) => isTerminated(pod) && pod.metadata.deletionTimestamp === undefined);
  if (terminatedLimit <= 0 || done.length <= terminatedLimit) return [];
  const rank = (pod: Pod) => (pod.status?.reason === 'Evicted' ? 0 : 1);
  const order = (a: Pod, b: Pod) =>
    rank(a) - rank(b) || compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || compare(a.metadata.name, b.metadata.name);
  return done.sort(order).slice(0, done.length - terminatedLimit);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Somebody said that the node will not come back. */
function isLost(node: Node): boolean {
  const ready = (node.status?.conditions ?? []).find(({ type }) => type === 'Ready');
  return ready?.status !== 'True' && (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}
