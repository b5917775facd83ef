import type { Quantity } from '#api/quantity.ts';
import type { FilesystemUsage, NodeUsage } from '../ports/stats.ts';

export type PressureType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What a signal is about, and what a threshold of it means for the node. */
interface SignalFacts {
  /** As messages have it. */
  readonly resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
  readonly pressure: PressureType;
  /** How its amounts are printed. */
  readonly format: Quantity['format'];
}

const bytes = { resource: 'ephemeral-storage', pressure: 'DiskPressure', format: 'BinarySI' } as const;
const inodes = { resource: 'inodes', pressure: 'DiskPressure', format: 'DecimalSI' } as const;
const memory = { resource: 'memory', pressure: 'MemoryPressure', format: 'BinarySI' } as const;

/** Upstream's signals. All mean shortage when too little is left. */
export const signals = {
  'memory.available': memory,
  'allocatableMemory.available': memory,
  'nodefs.available': bytes,
  'nodefs.inodesFree': inodes,
  'imagefs.available': bytes,
  'imagefs.inodesFree': inodes,
  'containerfs.available': bytes,
  'containerfs.inodesFree': inodes,
  'pid.available': { resource: 'pids', pressure: 'PIDPressure', format: 'DecimalSI' },
} as const satisfies Readonly<Record<string, SignalFacts>>;

export type Signal = keyof typeof signals;
export type StarvedResource = SignalFacts['resource'];

export function isSignal(name: string): name is Signal {
  return Object.hasOwn(signals, name);
}

/** One reading of a signal. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
  readonly atMs: number;
}

/** What is not known is absent. */
export type Observations = ReadonlyMap<Signal, Observation>;

/** The signals as the node's usage shows them; pure. */
export function observe(node: NodeUsage): Observations {
  const { memory: all, memoryCapacityBytes, podsMemory, processes } = node;
  const podsCapacity = sum(podsMemory.availableBytes, podsMemory.workingSetBytes);
  const entries: readonly (readonly [Signal, Observation | undefined])[] = [
    ['memory.available', observation(all.availableBytes, memoryCapacityBytes, all.atMs)],
    ['allocatableMemory.available', observation(podsMemory.availableBytes, podsCapacity, podsMemory.atMs)],
    ...filesystem('nodefs', node.nodeFs),
    ...filesystem('imagefs', node.imageFs),
    ...filesystem('containerfs', node.containerFs),
    ['pid.available', observation(difference(processes.max, processes.running), processes.max, processes.atMs)],
  ];
  return new Map(entries.flatMap(([signal, value]) => (value === undefined ? [] : [[signal, value] as const])));
}

function filesystem(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  { availableBytes, capacityBytes, inodesFree, inodes: all, atMs }: FilesystemUsage,
): readonly (readonly [Signal, Observation | undefined])[] {
  return [
    [`${name}.available`, observation(availableBytes, capacityBytes, atMs)],
    [`${name}.inodesFree`, observation(inodesFree, all, atMs)],
  ];
}

function observation(available: number | undefined, capacity: number | undefined, atMs: number): Observation | undefined {
  return available === undefined || capacity === undefined ? undefined : { available, capacity, atMs };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}

function difference(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b;
}
