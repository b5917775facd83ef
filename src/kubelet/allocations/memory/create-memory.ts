import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { quantityToNumber } from '#api/quantity.ts';
import { InvalidInput } from '#base/errors.ts';
import type { KubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import type { KubeletConfig, KubeletHost } from '../../kubelet-config.ts';
import { quantity } from '../../node/node-resources.ts';
import type { MemoryNode } from '../../ports/cpu-topology.ts';
import { type NodeBudget, thresholdBytes } from '../../resources/node-budget.ts';
import type { MemoryMachine, ReservedMemory } from './memory-machine.ts';
import { type MemoryEntries, StaticMemory } from './static-memory.ts';

interface MemoryState {
  readonly policyName: KubeletConfiguration['memoryManagerPolicy'];
  readonly machineState: Readonly<Record<string, unknown>>;
  readonly entries: MemoryEntries;
}

/** Memory that containers have on nodes of their own. */
export interface NodeMemories {
  /** `undefined`: nobody has any. */
  readonly provider: StaticMemory | undefined;
  /** Forgets pods that are gone. */
  reconcile(holds: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
}

/**
 * The memory manager, by its policy.
 *
 * @throws {InvalidInput} for what cannot be kept, in upstream's words
 */
export async function createMemory(
  { configuration, roots }: Pick<KubeletConfig, 'configuration' | 'roots'>,
  { files }: Pick<KubeletHost, 'files'>,
  { budget, nodes }: { readonly budget: NodeBudget; readonly nodes: readonly MemoryNode[] },
  signal: AbortSignal,
): Promise<NodeMemories> {
  const { memoryManagerPolicy: policyName, reservedMemory } = configuration;
  const path = `${roots.root}/memory_manager_state`;
  const save = async (state: MemoryState, inner: AbortSignal) =>
    files.write(path, JSON.stringify({ ...state, checksum: checksumOf(state) }), 0o600, inner);
  const bytes = await files.read(path, signal);
  const state = bytes === undefined ? undefined : parsed(Buffer.from(bytes).toString('utf8'), policyName, path);
  if (policyName === 'None') {
    if (state === undefined) await save({ policyName, machineState: {}, entries: {} }, signal);
    return { provider: undefined, reconcile: async () => undefined };
  }
  const reserved = checkedReservation(reservedMemory, nodes, budget);
  let kept: unknown = state?.entries;
  const provider: StaticMemory = new StaticMemory({
    nodes,
    reserved,
    entries: state?.entries ?? {},
    save: async (inner) => {
      await save({ policyName, machineState: plain(provider.machine), entries: provider.entries }, inner);
      kept = provider.entries;
    },
  });
  if (state !== undefined && !isDeepStrictEqual(state.machineState, JSON.parse(JSON.stringify(plain(provider.machine))))) {
    throw new InvalidInput({
      message: '[memorymanager] the expected machine state is different from the real one',
      hint: `drain this node and delete ${path}`,
    });
  }
  return {
    provider,
    async reconcile(holds, inner) {
      for (const uid of Object.keys(provider.entries)) if (!holds(uid)) provider.release(uid);
      if (kept === provider.entries) return;
      await save({ policyName, machineState: plain(provider.machine), entries: provider.entries }, inner);
      kept = provider.entries;
    },
  };
}

/** @throws {InvalidInput} unless exactly that much is reserved on the nodes as is kept back from pods */
export function checkedReservation(
  given: KubeletConfiguration['reservedMemory'],
  nodes: readonly MemoryNode[],
  { reserved, thresholds }: Pick<NodeBudget, 'reserved' | 'thresholds'>,
): ReservedMemory {
  const stranger = given.find(({ numaNode }) => !nodes.some(({ node }) => node === numaNode));
  if (stranger !== undefined) {
    throw new InvalidInput({
      message: `the reserved memory configuration references a NUMA node ${stranger.numaNode} that does not exist on this machine`,
    });
  }
  const byNode = new Map(
    given.map(({ numaNode, limits }) => [numaNode, new Map(Object.entries(limits).map(([type, text]) => [type, quantityToNumber(text)]))]),
  );
  const capacity = nodes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  const keptBack = reserved.memoryBytes + thresholdBytes(thresholds.memory, capacity);
  for (const type of new Set(['memory', ...given.flatMap(({ limits }) => Object.keys(limits))])) {
    const total = [...byNode.values()].reduce((sum, amounts) => sum + (amounts.get(type) ?? 0), 0);
    const expected = type === 'memory' ? keptBack : 0;
    if (total === expected) continue;
    throw new InvalidInput({
      message: `the total amount "${quantity(total)}" of type "${type}" is not equal to the value "${quantity(expected)}" determined by Node Allocatable feature`,
      hint: 'reservedMemory must add up to kubeReserved, systemReserved and the hard eviction threshold of memory',
    });
  }
  return byNode;
}

function plain(machine: MemoryMachine): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...machine].map(([node, memory]) => [String(node), memory]));
}

function parsed(text: string, policyName: string, path: string): MemoryState {
  const unusable = (problem: string) => {
    const mend = `please drain this node and delete the memory manager checkpoint file "${path}" before restarting Kubelet`;
    return new InvalidInput({ message: `could not restore state from checkpoint: ${problem}, ${mend}` });
  };
  let state: MemoryState;
  try {
    const { checksum, ...rest } = JSON.parse(text) as MemoryState & { readonly checksum: number }; // the sum tells whether it is
    if (checksum !== checksumOf(rest)) throw new Error('another sum');
    state = rest;
  } catch {
    throw unusable('checkpoint is corrupted');
  }
  if (state.policyName === policyName) return state;
  throw unusable(`[memorymanager] configured policy "${policyName}" differs from state checkpoint policy "${state.policyName}"`);
}

function checksumOf(state: MemoryState): number {
  return createHash('sha256').update(JSON.stringify(state)).digest().readUInt32BE(0);
}
