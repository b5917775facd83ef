import type { Align, AllocationRefusal, TopologyHint, TopologyHints } from '../provider.ts';

export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';

/** Beyond it there are too many ways to look at. Upstream's number. */
export const mostMemoryNodes = 8;

const refusal: AllocationRefusal = { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };

/**
 * The policy of the topology manager, container by container: which memory nodes all that a container gets should be on.
 *
 * @param memoryNodes numbers of the machine's
 */
export function alignBy(policy: TopologyPolicy, memoryNodes: readonly number[]): Align {
  const all = memoryNodes.reduce((mask, node) => mask | (1 << node), 0);
  if (policy === 'none') return () => undefined;
  return (_pod, _container, hints) => {
    const best = bestOf(wishesOf(policy, hints, all), all);
    if (best.preferred || policy === 'best-effort') return best;
    return refusal;
  };
}

/** One list for each resource that somebody has a wish for. */
function wishesOf(policy: TopologyPolicy, hints: readonly TopologyHints[], all: number): readonly (readonly TopologyHint[])[] {
  const nowhere: TopologyHint = { nodes: all, preferred: false };
  return hints
    .flatMap((ofProvider) => [...ofProvider.values()])
    .map((list) => (list.length === 0 ? [nowhere] : list))
    .map((list) => (policy === 'single-numa-node' ? list.filter(({ nodes, preferred }) => preferred && bits(nodes) === 1) : list));
}

/** Of one hint from each list: what all have in common. Preferred before not, then the narrowest. */
function bestOf(wishes: readonly (readonly TopologyHint[])[], all: number): TopologyHint {
  if (wishes.length === 0) return { nodes: all, preferred: true };
  let best: TopologyHint = { nodes: all, preferred: false };
  for (const choice of choices(wishes)) {
    const nodes = choice.reduce((mask, hint) => mask & hint.nodes, all);
    if (nodes === 0) continue;
    const preferred = choice.every((hint) => hint.preferred && hint.nodes === nodes);
    if (preferred === best.preferred ? isNarrower(nodes, best.nodes) : preferred) best = { nodes, preferred };
  }
  return best;
}

function* choices(lists: readonly (readonly TopologyHint[])[]): Generator<readonly TopologyHint[]> {
  const [first, ...rest] = lists;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const one of first) for (const others of choices(rest)) yield [one, ...others];
}

function isNarrower(nodes: number, than: number): boolean {
  const [a, b] = [bits(nodes), bits(than)];
  return a === b ? nodes < than : a < b;
}

function bits(mask: number): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count += 1;
  return count;
}
