import type { Pod } from '#api/types/core-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import type { KubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import type { KubeletConfig, KubeletHost } from '../../kubelet-config.ts';
import type { AllocationMeters } from '../../metrics/allocation-metrics.ts';
import type { LogicalCpu } from '../../ports/cpu-topology.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { cpusOf } from '../../resources/cpu-set.ts';
import type { NodeBudget } from '../../resources/node-budget.ts';
import { chooseCpus } from './choose-cpus.ts';
import { cpuOptions } from './cpu-options.ts';
import { CpuStateFile, checkState, noCpuState } from './cpu-state.ts';
import { CpuKeeper } from './keep-cpus.ts';
import { exclusiveCpus, StaticCpus } from './static-cpus.ts';

/** CPUs that containers have for themselves. */
export interface NodeCpus {
  /** `undefined`: nobody has any. */
  readonly provider: StaticCpus | undefined;
  readonly meters: Pick<AllocationMeters, 'pinned' | 'cpus'>;
  reconcile(runtime: RuntimePort, holds: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
}

type Host = Pick<KubeletHost, 'files' | 'logger'>;

/**
 * The CPU manager, by its policy.
 *
 * @throws {InvalidInput} for what cannot be kept, in upstream's words where it has some
 */
export async function createCpus(
  { configuration, roots }: Pick<KubeletConfig, 'configuration' | 'roots'>,
  host: Host,
  facts: { readonly budget: NodeBudget; readonly topology: readonly LogicalCpu[] },
  signal: AbortSignal,
): Promise<NodeCpus> {
  const { cpuManagerPolicy } = configuration;
  const options = cpuOptions(cpuManagerPolicy, configuration.cpuManagerPolicyOptions);
  const file = new CpuStateFile(host.files, roots.root);
  const state = await file.load(cpuManagerPolicy, signal);
  if (cpuManagerPolicy === 'none') {
    if (state === undefined) await file.save(noCpuState, signal);
    return { provider: undefined, meters: { pinned: () => 0, cpus: () => ({ shared: 0, exclusive: 0 }) }, reconcile: async () => undefined };
  }
  const { topology } = facts;
  const reserved = reservedOf(configuration, facts.budget, topology);
  const online = topology.map(({ cpu }) => cpu);
  if (state !== undefined) checkState(state, online, reserved, !options.strictReservation);
  const save = file.save.bind(file);
  const cpus = new StaticCpus({ topology, reserved, ...options, state, save });
  let keeper: CpuKeeper | undefined;
  return {
    provider: cpus,
    meters: { pinned: (pod) => pinnedContainers(pod), cpus: () => cpus.figures },
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
  topology: readonly LogicalCpu[],
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
