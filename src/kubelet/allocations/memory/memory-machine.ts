import { hugepageName } from '../../node/node-resources.ts';
import type { MemoryNode } from '../../ports/cpu-topology.ts';
import type { TopologyHint } from '../provider.ts';
import { maskOf, nodeSets, nodesOfMask, sizeOfMask } from '../topology/node-sets.ts';

/** `memory`, `hugepages-2Mi`: bytes of each. */
export type MemoryAmounts = ReadonlyMap<string, number>;

/** What one container has of one type, on which nodes; as the state file writes it. */
export interface MemoryBlock {
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}

export interface MemoryRoom {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}

export interface NodeMemory {
  readonly numberOfAssignments: number;
  readonly memoryMap: Readonly<Record<string, MemoryRoom>>;
  /** The nodes that are used together with this one; none: nobody uses it. */
  readonly cells: readonly number[];
}

/** By number of the node. */
export type MemoryMachine = ReadonlyMap<number, NodeMemory>;

/** Bytes that are kept for the system, by node and type. */
export type ReservedMemory = ReadonlyMap<number, MemoryAmounts>;

/** The machine with all that containers have on it. */
export function memoryMachine(nodes: readonly MemoryNode[], reserved: ReservedMemory, blocks: readonly MemoryBlock[]): MemoryMachine {
  const empty = nodes.map((node): [number, NodeMemory] => [node.node, emptyNode(node, reserved.get(node.node) ?? new Map())]);
  return blocks.reduce(withBlock, new Map(empty));
}

/**
 * The sets of nodes on which a container could have that much; preferred the smallest that would do on an empty machine. A node is used
 * either alone or always together with the same others. Source: upstream's static policy of the memory manager.
 *
 * @param reusable what the pod's ended init containers leave on exactly these nodes
 */
export function memoryHints(machine: MemoryMachine, wish: MemoryAmounts, reusable: (nodes: number, type: string) => number): readonly TopologyHint[] {
  const sets = nodeSets([...machine.keys()]);
  const couldHold = sets.filter((set) => [...wish].every(([type, size]) => sumOf(machine, set, type, 'allocatable') >= size));
  const least = Math.min(...couldHold.map(sizeOfMask));
  return couldHold
    .filter((set) => !breaksGroup(machine, set) && holds(machine, set, wish, reusable))
    .map((nodes) => ({ nodes, preferred: sizeOfMask(nodes) === least }));
}

/** Whether the nodes are used in another company. */
export function breaksGroup(machine: MemoryMachine, set: number): boolean {
  return nodesOfMask(set).some((node) => {
    const { cells, numberOfAssignments } = machine.get(node) ?? { cells: [], numberOfAssignments: 0 };
    return numberOfAssignments > 0 && maskOf(cells) !== set;
  });
}

export function holds(machine: MemoryMachine, set: number, wish: MemoryAmounts, reusable: (nodes: number, type: string) => number): boolean {
  return [...wish].every(([type, size]) => sumOf(machine, set, type, 'free') + reusable(set, type) >= size);
}

function sumOf(machine: MemoryMachine, set: number, type: string, what: 'free' | 'allocatable'): number {
  return nodesOfMask(set).reduce((sum, node) => sum + (machine.get(node)?.memoryMap[type]?.[what] ?? 0), 0);
}

function emptyNode({ memoryBytes, hugepages }: MemoryNode, reserved: MemoryAmounts): NodeMemory {
  const pages = hugepages.map(({ sizeBytes, pages: count }): [string, number] => [hugepageName(sizeBytes), sizeBytes * count]);
  const held = pages.reduce((sum, [, bytes]) => sum + bytes, 0);
  const room = (type: string, total: number, taken: number): [string, MemoryRoom] => {
    const systemReserved = reserved.get(type) ?? 0;
    const allocatable = Math.max(0, total - taken - systemReserved);
    return [type, { total, systemReserved, allocatable, reserved: 0, free: allocatable }];
  };
  const memoryMap = Object.fromEntries([room('memory', memoryBytes, held), ...pages.map(([type, bytes]) => room(type, bytes, 0))]);
  return { numberOfAssignments: 0, memoryMap, cells: [] };
}

function withBlock(machine: MemoryMachine, { numaAffinity, type, size }: MemoryBlock): MemoryMachine {
  const next = new Map(machine);
  let left = size;
  for (const node of numaAffinity) {
    const before = machine.get(node);
    const room = before?.memoryMap[type];
    if (before === undefined || room === undefined) continue;
    const part = Math.min(left, room.free);
    left -= part;
    const filled = { ...room, reserved: room.reserved + part, free: room.free - part };
    next.set(node, {
      numberOfAssignments: before.numberOfAssignments + 1,
      memoryMap: { ...before.memoryMap, [type]: filled },
      cells: numaAffinity,
    });
  }
  return next;
}
