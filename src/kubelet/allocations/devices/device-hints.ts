import type { TopologyHint } from '../provider.ts';
import { nodeSets, sizeOfMask } from '../topology/node-sets.ts';

export interface HintedDevices {
  readonly count: number;
  /** Memory nodes of every device of the resource, as a mask; 0: none in particular. */
  readonly all: ReadonlyMap<string, number>;
  /** What the container may have. */
  readonly available: ReadonlySet<string>;
  /** What the container takes over in any case, where it is on a node. */
  readonly reusable: ReadonlySet<string>;
}

/**
 * On which memory nodes the container could have its devices; preferred are those sets that would be the smallest if all devices were free.
 *
 * @returns `undefined`: the devices are on no node in particular
 */
export function deviceHints({ count, all, available, reusable }: HintedDevices, memoryNodes: readonly number[]): readonly TopologyHint[] | undefined {
  if ([...all.values()].every((nodes) => nodes === 0)) return undefined;
  if (new Set([...available, ...reusable]).size < count) return [];
  const within = (devices: Iterable<string>, set: number) => [...devices].filter((device) => ((all.get(device) ?? 0) & set) !== 0).length;
  const placed = [...reusable].filter((device) => (all.get(device) ?? 0) !== 0);
  const sets = nodeSets(memoryNodes);
  const least = Math.min(memoryNodes.length, ...sets.filter((set) => within(all.keys(), set) >= count).map(sizeOfMask));
  return sets
    .filter((set) => within(placed, set) === placed.length && within(new Set([...available, ...placed]), set) >= count)
    .map((nodes) => ({ nodes, preferred: sizeOfMask(nodes) === least }));
}
