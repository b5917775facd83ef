import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { AllocationMeters } from '../metrics/allocation-metrics.ts';
import type { AllocationsPort } from '../ports/allocations.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { cpusOf } from '../resources/cpu-set.ts';
import type { NodeBudget } from '../resources/node-budget.ts';
import { Allocations } from './allocations.ts';
import { chooseCpus } from './cpus/choose-cpus.ts';
import { CpuStateFile, checkState, noCpuState } from './cpus/cpu-state.ts';
import { CpuKeeper } from './cpus/keep-cpus.ts';
import { exclusiveCpus, StaticCpus } from './cpus/static-cpus.ts';
import { alignBy, mostMemoryNodes } from './topology/align.ts';

/** What the node gives to one container alone; nothing, unless it is configured. */
export interface NodeAllocations {
  readonly port: AllocationsPort | undefined;
  readonly meters: Pick<AllocationMeters, 'pinned' | 'cpus'>;
  /** Moves what runs to where it should be by now. @param holds whether a pod of that uid has its room */
  reconcile(runtime: RuntimePort, holds: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
}

type Host = Pick<KubeletHost, 'files' | 'cpuTopology' | 'logger'>;

/** @throws {InvalidInput} for a policy that cannot be kept, in upstream's words where it has some */
export async function createAllocations(config: KubeletConfig, host: Host, budget: NodeBudget, signal: AbortSignal): Promise<NodeAllocations> {
  const { configuration, roots } = config;
  refuseUnsupported(configuration);
  const file = new CpuStateFile(host.files, roots.root);
  const { cpuManagerPolicy } = configuration;
  const state = await file.load(cpuManagerPolicy, signal);
  if (cpuManagerPolicy === 'none') {
    if (state === undefined) await file.save(noCpuState, signal);
    return { port: undefined, meters: { pinned: () => 0, cpus: () => ({ shared: 0, exclusive: 0 }) }, reconcile: async () => undefined };
  }
  const topology = await host.cpuTopology.cpus(signal);
  const reserved = reservedOf(configuration, budget, topology);
  const options = optionsOf(configuration.cpuManagerPolicyOptions);
  const online = topology.map(({ cpu }) => cpu);
  if (state !== undefined) checkState(state, online, reserved, !options.strictReservation);
  const save = file.save.bind(file);
  const cpus = new StaticCpus({ topology, reserved, ...options, state, save });
  const memoryNodes = [...new Set(topology.map(({ memoryNode }) => memoryNode))];
  if (configuration.topologyManagerPolicy !== 'none' && memoryNodes.length > mostMemoryNodes) {
    throw new InvalidInput({ message: `unsupported on machines with more than ${mostMemoryNodes} NUMA Nodes` });
  }
  let keeper: CpuKeeper | undefined;
  return {
    meters: { pinned: (pod) => pinnedContainers(pod), cpus: () => cpus.figures },
    port: new Allocations([cpus], alignBy(configuration.topologyManagerPolicy, memoryNodes)),
    async reconcile(runtime, holds, inner) {
      keeper ??= new CpuKeeper({ cpus, runtime, holds, save, logger: host.logger });
      await keeper.reconcile(inner);
    },
  };
}

function pinnedContainers(pod: Pod): number {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  return [...initContainers, ...containers].filter((container) => exclusiveCpus(pod, container) > 0).length;
}

function reservedOf(
  { reservedSystemCPUs }: KubeletConfiguration,
  { reserved: { cpuMilli } }: NodeBudget,
  topology: Parameters<typeof chooseCpus>[0],
): readonly number[] {
  if (reservedSystemCPUs !== '') return cpusOf(reservedSystemCPUs, 'reservedSystemCPUs');
  if (cpuMilli <= 0) {
    throw new InvalidInput({
      message: '[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero',
      hint: 'set kubeReserved or systemReserved, or reservedSystemCPUs',
    });
  }
  const count = Math.ceil(cpuMilli / 1000);
  const chosen = chooseCpus(topology, new Set(topology.map(({ cpu }) => cpu)), count);
  if (chosen === undefined) {
    throw new InvalidInput({
      message: `[cpumanager] unable to reserve the required amount of CPUs (size of ${topology.length} did not equal ${count})`,
    });
  }
  return chosen;
}

const knownOptions = ['full-pcpus-only', 'strict-cpu-reservation'];

function optionsOf(given: Readonly<Record<string, string>>): { readonly fullPhysicalCpusOnly: boolean; readonly strictReservation: boolean } {
  for (const [name, value] of Object.entries(given)) {
    if (!knownOptions.includes(name)) throw new InvalidInput({ message: `unsupported cpumanager option: "${name}"`, hint: knownOptions.join(', ') });
    if (value !== 'true' && value !== 'false') throw new InvalidInput({ message: `bad value for option "${name}": ${JSON.stringify(value)}` });
  }
  return { fullPhysicalCpusOnly: given['full-pcpus-only'] === 'true', strictReservation: given['strict-cpu-reservation'] === 'true' };
}

/** What would be accepted and not kept is refused. */
function refuseUnsupported(configuration: KubeletConfiguration): void {
  const refuse = (field: string, mend: string) => {
    throw new InvalidInput({ message: `${field}: this version does not support it`, hint: mend });
  };
  if (configuration.memoryManagerPolicy !== 'None') refuse('memoryManagerPolicy "Static"', 'leave it "None"');
  if (configuration.topologyManagerPolicy !== 'none' && configuration.topologyManagerScope !== 'container')
    refuse('topologyManagerScope "pod"', 'set it to "container"');
  if (Object.keys(configuration.topologyManagerPolicyOptions).length > 0) refuse('topologyManagerPolicyOptions', 'remove them');
  if (configuration.cpuManagerPolicy === 'none' && Object.keys(configuration.cpuManagerPolicyOptions).length > 0)
    refuse('cpuManagerPolicyOptions without a policy', 'set cpuManagerPolicy to "static", or remove them');
}
