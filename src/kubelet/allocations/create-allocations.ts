import type { Container, Pod, ResourceStatus } from '#api/types/core-v1.ts';
import type { Watchable } from '#base/watchable.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { AllocationMeters } from '../metrics/allocation-metrics.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { NodeBudget } from '../resources/node-budget.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import { Allocations } from './allocations.ts';
import { createCpus } from './cpus/create-cpus.ts';
import { createDevices, type DevicesHost } from './devices/create-devices.ts';
import { createMemory } from './memory/create-memory.ts';
import { alignBy } from './topology/align.ts';
import { checkMemoryNodes, topologyOptions } from './topology/topology-options.ts';

/** What the node gives to one container alone. */
export interface NodeAllocations {
  readonly port: AllocationsPort;
  readonly meters: Pick<AllocationMeters, 'pinned' | 'cpus'>;
  /** What there is of the node's extended resources has changed. */
  readonly amountsChanged: Watchable<unknown>;
  /** Tells of pods whose devices are in another state now. */
  onAffected(tell: (podUid: string) => void): void;
  /** How many devices of each resource are given: a node has at least these, whatever it says. */
  given(): Readonly<Record<string, number>>;
  statusOf(pod: Pod, container: Container): readonly ResourceStatus[];
  /** Follows plugins until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Moves what runs to where it should be by now. @param holds whether a pod of that uid has its room */
  reconcile(runtime: RuntimePort, holds: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
}

type Host = DevicesHost & Pick<KubeletHost, 'cpuTopology'>;

export interface AllocationParts {
  readonly budget: NodeBudget;
  readonly cache: Pick<RuntimeCache, 'get'>;
}

/** @throws {InvalidInput} for a policy that cannot be kept, in upstream's words where it has some */
export async function createAllocations(
  config: Pick<KubeletConfig, 'configuration' | 'roots'>,
  host: Host,
  { budget, cache }: AllocationParts,
  signal: AbortSignal,
): Promise<NodeAllocations> {
  const { configuration, roots } = config;
  const options = topologyOptions(configuration.topologyManagerPolicyOptions);
  const { cpuManagerPolicy, memoryManagerPolicy, topologyManagerPolicy, topologyManagerScope } = configuration;
  const needsTopology = cpuManagerPolicy !== 'none' || memoryManagerPolicy !== 'None' || topologyManagerPolicy !== 'none';
  const [topology, memory] = needsTopology ? await Promise.all([host.cpuTopology.cpus(signal), host.cpuTopology.memoryNodes(signal)]) : [[], []];
  const memoryNodes = memory.map(({ node }) => node);
  if (topologyManagerPolicy !== 'none') checkMemoryNodes(memoryNodes.length, options);
  const distance = (from: number, to: number) => memory[memoryNodes.indexOf(from)]?.distances[memoryNodes.indexOf(to)] ?? Number.MAX_SAFE_INTEGER;
  const runs = (podUid: string, name: string) =>
    cache.get(podUid)?.containers.some((container) => container.name === name && container.phase === 'running') === true;
  const cpus = await createCpus(config, host, { budget, topology }, signal);
  const memories = await createMemory(config, host, { budget, nodes: memory }, signal);
  const devices = await createDevices(roots.root, host, { runs, memoryNodes }, signal);
  const providers = [devices.provider, cpus.provider, memories.provider].filter((provider) => provider !== undefined);
  return {
    port: new Allocations(
      providers,
      alignBy(topologyManagerPolicy, memoryNodes, options.prefersClosest ? distance : undefined),
      topologyManagerScope,
    ),
    meters: cpus.meters,
    amountsChanged: devices.amountsChanged,
    onAffected(tell) {
      devices.affected.subscribe((uids) => {
        for (const uid of uids) tell(uid);
      });
    },
    given: () => devices.provider.given(),
    statusOf: devices.statusOf,
    run: (inner) => devices.run(inner),
    async reconcile(runtime, holds, inner) {
      for (const { podUid } of devices.provider.grants) if (!holds(podUid)) devices.provider.release(podUid);
      await memories.reconcile(holds, inner);
      await cpus.reconcile(runtime, holds, inner);
    },
  };
}
