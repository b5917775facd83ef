/** Sets of memory nodes: bit n is node n. */
export function maskOf(nodes: Iterable<number>): number {
  let mask = 0;
  for (const node of nodes) mask |= 1 << node;
  return mask;
}

/** All sets that are not empty, the narrow before the wide, of equals the one of lower numbers first. */
export function nodeSets(nodes: readonly number[]): readonly number[] {
  const sets = Array.from({ length: 2 ** nodes.length - 1 }, (_, index) => maskOf(nodes.filter((_node, bit) => ((index + 1) >> bit) & 1)));
  return sets.sort((a, b) => sizeOfMask(a) - sizeOfMask(b) || a - b);
}

export function sizeOfMask(mask: number): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count += 1;
  return count;
}

export function nodesOfMask(mask: number): readonly number[] {
  return Array.from({ length: 31 }, (_, node) => node).filter((node) => (mask >> node) & 1);
}
