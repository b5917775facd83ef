import type { Align, AllocationRefusal, TopologyHint, TopologyHints } from '../provider.ts';
import { maskOf, nodesOfMask, sizeOfMask } from './node-sets.ts';

export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';

/** Beyond it there are too many ways to look at. Upstream's number. */
export const mostMemoryNodes = 8;

const refusal: AllocationRefusal = { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };

/** How near two memory nodes are to each other; smaller is nearer. */
export type NodeDistance = (from: number, to: number) => number;

/**
 * The policy of the topology manager: which memory nodes all that a container, or a pod, gets should be on.
 *
 * @param memoryNodes numbers of the machine's
 * @param distance given: of two sets of equal size the nearer one is taken
 */
export function alignBy(policy: TopologyPolicy, memoryNodes: readonly number[], distance?: NodeDistance): Align {
  const all = maskOf(memoryNodes);
  if (policy === 'none') return () => undefined;
  return (hints) => {
    const wishes = wishesOf(policy, hints(), all);
    const best = bestOf(wishes, all, (nodes, than) => isBetterSet(nodes, than, distance));
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
    .map((list) => (policy === 'single-numa-node' ? list.filter(({ nodes, preferred }) => preferred && sizeOfMask(nodes) === 1) : list));
}

type BetterSet = (nodes: number, than: number) => boolean;

/** Of one hint from each list: what all have in common. */
function bestOf(wishes: readonly (readonly TopologyHint[])[], all: number, isBetter: BetterSet): TopologyHint {
  if (wishes.length === 0) return { nodes: all, preferred: true };
  // The narrowest that would do for the resource that needs most: when nothing is preferred, wider than that is waste and narrower too little.
  const fitting = Math.max(...wishes.map((list) => Math.min(...list.map(({ nodes }) => sizeOfMask(nodes)))));
  let best: TopologyHint | undefined;
  for (const choice of choices(wishes)) {
    const nodes = choice.reduce((mask, hint) => mask & hint.nodes, all);
    if (nodes === 0) continue;
    const candidate = { nodes, preferred: choice.every((hint) => hint.preferred && hint.nodes === nodes) };
    if (best === undefined || beats(candidate, best, fitting, isBetter)) best = candidate;
  }
  return best ?? { nodes: all, preferred: false };
}

/** Upstream's order. */
function beats(candidate: TopologyHint, best: TopologyHint, fitting: number, isBetter: BetterSet): boolean {
  if (candidate.preferred !== best.preferred) return candidate.preferred;
  const [size, bestSize] = [sizeOfMask(candidate.nodes), sizeOfMask(best.nodes)];
  if (candidate.preferred || size === bestSize || bestSize > fitting) return isBetter(candidate.nodes, best.nodes);
  if (bestSize === fitting) return false;
  return size <= fitting && size > bestSize;
}

function isBetterSet(nodes: number, than: number, distance: NodeDistance | undefined): boolean {
  const [size, other] = [sizeOfMask(nodes), sizeOfMask(than)];
  if (size !== other) return size < other;
  if (distance !== undefined) {
    const [near, far] = [meanDistance(nodes, distance), meanDistance(than, distance)];
    if (near !== far) return near < far;
  }
  return nodes < than;
}

/** Of every pair of nodes, each with itself included. Upstream's measure. */
function meanDistance(set: number, distance: NodeDistance): number {
  const nodes = nodesOfMask(set);
  const sum = nodes.reduce((total, from) => total + nodes.reduce((part, to) => part + distance(from, to), 0), 0);
  return sum / nodes.length ** 2;
}

function* choices(lists: readonly (readonly TopologyHint[])[]): Generator<readonly TopologyHint[]> {
  const [first, ...rest] = lists;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const one of first) for (const others of choices(rest)) yield [one, ...others];
}
