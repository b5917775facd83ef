import type { LogicalCpu } from '../../ports/cpu-topology.ts';

/**
 * Chooses that many of the free CPUs so that few share a socket or a core with others: whole sockets first, then whole cores, then threads;
 * of equals those whose socket (core) has the fewest others free, so that large free pieces stay whole.
 *
 * @param wholeCores a core that is not wholly free gives none
 * @returns `undefined` when there are not enough
 */
export function chooseCpus(
  topology: readonly LogicalCpu[],
  free: ReadonlySet<number>,
  count: number,
  { wholeCores = false }: { readonly wholeCores?: boolean } = {},
): readonly number[] | undefined {
  const taken = new Set<number>();
  const left = () => topology.filter(({ cpu }) => free.has(cpu) && !taken.has(cpu));
  for (const place of ['socket', 'core'] as const) {
    for (const group of wholeGroups(topology, left(), place)) {
      if (group.length > count - taken.size) continue;
      for (const { cpu } of group) taken.add(cpu);
    }
  }
  if (!wholeCores) for (const { cpu } of byCrowding(left()).slice(0, count - taken.size)) taken.add(cpu);
  return taken.size === count ? [...taken].sort((a, b) => a - b) : undefined;
}

/** The sockets or cores of which every CPU is there, in order of number; cores of the fullest socket first. */
function wholeGroups(topology: readonly LogicalCpu[], left: readonly LogicalCpu[], place: 'socket' | 'core'): readonly (readonly LogicalCpu[])[] {
  const sizes = countBy(topology, place);
  const groups = new Map<number, LogicalCpu[]>();
  for (const cpu of byCrowding(left)) groups.set(cpu[place], [...(groups.get(cpu[place]) ?? []), cpu]);
  return [...groups].filter(([id, group]) => group.length === sizes.get(id)).map(([, group]) => group);
}

function byCrowding(cpus: readonly LogicalCpu[]): readonly LogicalCpu[] {
  const [ofSocket, ofCore] = [countBy(cpus, 'socket'), countBy(cpus, 'core')];
  const rank = ({ socket, core, cpu }: LogicalCpu) => [ofSocket.get(socket) ?? 0, socket, ofCore.get(core) ?? 0, core, cpu];
  return [...cpus].sort((a, b) => compareInOrder(rank(a), rank(b)));
}

function compareInOrder(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
  return 0;
}

function countBy(cpus: readonly LogicalCpu[], place: 'socket' | 'core'): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const cpu of cpus) counts.set(cpu[place], (counts.get(cpu[place]) ?? 0) + 1);
  return counts;
}
