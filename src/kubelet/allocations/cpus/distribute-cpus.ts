import type { LogicalCpu } from '../../ports/cpu-topology.ts';
import { nodeSets, nodesOfMask, sizeOfMask } from '../topology/node-sets.ts';
import { chooseCpus } from './choose-cpus.ts';

/**
 * Spreads the CPUs evenly over as few memory nodes as have them, so that what remains free is even too; the rest that cannot be even goes
 * to the nodes with the most left. Source: upstream's option distribute-cpus-across-numa.
 *
 * @param groupSize CPUs that are given together: 1, or those of a core
 * @returns `undefined` when one node is enough, or no even spread is possible: then they are chosen as without the option
 */
export function distributeCpus(
  topology: readonly LogicalCpu[],
  free: ReadonlySet<number>,
  count: number,
  groupSize: number,
): readonly number[] | undefined {
  if (count % groupSize !== 0) return undefined;
  const freeOf = new Map<number, LogicalCpu[]>();
  for (const cpu of topology) if (free.has(cpu.cpu)) freeOf.set(cpu.memoryNode, [...(freeOf.get(cpu.memoryNode) ?? []), cpu]);
  const wholeCores = groupSize > 1;
  const roomOf = (node: number) => wholeGroups(topology, freeOf.get(node) ?? [], groupSize);
  const sets = nodeSets([...freeOf.keys()]);
  const least = Math.min(...sets.filter((set) => sum(nodesOfMask(set).map(roomOf)) >= count).map(sizeOfMask));
  if (least === 1) return undefined;
  const spreads = sets
    .filter((set) => sizeOfMask(set) === least)
    .map((set) => spreadOver(nodesOfMask(set), roomOf, count, groupSize))
    .filter((spread) => spread !== undefined);
  const [best] = spreads.sort((a, b) => unevenness(a, freeOf, roomOf) - unevenness(b, freeOf, roomOf));
  if (best === undefined) return undefined;
  const parts = [...best].map(([node, share]) => chooseCpus(topology, new Set(freeOf.get(node)?.map(({ cpu }) => cpu)), share, { wholeCores }));
  if (parts.some((part) => part === undefined)) return undefined;
  return parts.flatMap((part) => part ?? []).sort((a, b) => a - b);
}

type Spread = ReadonlyMap<number, number>;

function spreadOver(nodes: readonly number[], roomOf: (node: number) => number, count: number, groupSize: number): Spread | undefined {
  const even = Math.floor(count / nodes.length / groupSize) * groupSize;
  if (nodes.some((node) => roomOf(node) < even)) return undefined;
  const extras = (count - even * nodes.length) / groupSize;
  const byRoom = [...nodes].filter((node) => roomOf(node) >= even + groupSize).sort((a, b) => roomOf(b) - roomOf(a) || a - b);
  if (byRoom.length < extras) return undefined;
  const more = new Set(byRoom.slice(0, extras));
  return new Map(nodes.map((node) => [node, even + (more.has(node) ? groupSize : 0)]));
}

/** How far what is left on the nodes is from being the same everywhere. */
function unevenness(spread: Spread, freeOf: ReadonlyMap<number, unknown>, roomOf: (node: number) => number): number {
  const left = [...freeOf.keys()].map((node) => roomOf(node) - (spread.get(node) ?? 0));
  const mean = sum(left) / left.length;
  return sum(left.map((room) => (room - mean) ** 2));
}

/** CPUs of cores that are wholly free, or all where threads are given one by one. */
function wholeGroups(topology: readonly LogicalCpu[], free: readonly LogicalCpu[], groupSize: number): number {
  if (groupSize === 1) return free.length;
  const sizeOf = (cpus: readonly LogicalCpu[], core: number) => cpus.filter((cpu) => cpu.core === core).length;
  return free.filter(({ core }) => sizeOf(free, core) === sizeOf(topology, core)).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
