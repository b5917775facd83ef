import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import { InvalidInput } from '#base/errors.ts';
import { defaultEvictionHard, type KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { cpusOf } from './cpu-set.ts';

/** What is kept back from pods. */
export interface ReservedResources {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  readonly pids: number;
}

export const nothingReserved: ReservedResources = { cpuMilli: 0, memoryBytes: 0, ephemeralStorageBytes: 0, pids: 0 };

/** An amount, or a share of the capacity. */
export type Threshold = { readonly bytes: number } | { readonly share: number };

/** Below this the kubelet would have to evict pods, so pods are not promised it. */
export interface HardEvictionThresholds {
  readonly memory: Threshold;
  readonly ephemeralStorage: Threshold;
}

export interface NodeBudget {
  readonly system: ReservedResources;
  readonly kube: ReservedResources;
  /** Both together. */
  readonly reserved: ReservedResources;
  readonly thresholds: HardEvictionThresholds;
  readonly maxPods: number;
}

export interface BudgetCapacity {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
}

type BudgetConfiguration = Pick<
  KubeletConfiguration,
  | 'systemReserved'
  | 'kubeReserved'
  | 'reservedSystemCPUs'
  | 'systemReservedCgroup'
  | 'kubeReservedCgroup'
  | 'evictionHard'
  | 'mergeDefaultEvictionSettings'
  | 'maxPods'
  | 'podsPerCore'
>;

/**
 * What the configuration keeps back from pods.
 *
 * @throws {InvalidInput} in upstream's words
 */
export function nodeBudget(configuration: BudgetConfiguration, cpus: number): NodeBudget {
  const { maxPods, podsPerCore } = configuration;
  const named = reservedCpus(configuration);
  const cpuOf = (amounts: Readonly<Record<string, string>>, cpu: number | undefined) => ({
    ...reservedOf(amounts),
    ...(cpu === undefined ? {} : { cpuMilli: cpu }),
  });
  const system = cpuOf(configuration.systemReserved, named === undefined ? undefined : named * 1000);
  const kube = cpuOf(configuration.kubeReserved, named === undefined ? undefined : 0);
  const hard = hardEvictionOf(configuration);
  return {
    system,
    kube,
    reserved: {
      cpuMilli: system.cpuMilli + kube.cpuMilli,
      memoryBytes: system.memoryBytes + kube.memoryBytes,
      ephemeralStorageBytes: system.ephemeralStorageBytes + kube.ephemeralStorageBytes,
      pids: system.pids + kube.pids,
    },
    thresholds: { memory: thresholdOf(hard['memory.available']), ephemeralStorage: thresholdOf(hard['nodefs.available']) },
    maxPods: podsPerCore > 0 ? Math.min(podsPerCore * cpus, maxPods) : maxPods,
  };
}

/** The thresholds by signal: those of the configuration take the place of all defaults, unless it wants to have both. */
export function hardEvictionOf({
  evictionHard,
  mergeDefaultEvictionSettings,
}: Pick<KubeletConfiguration, 'evictionHard' | 'mergeDefaultEvictionSettings'>): Readonly<Record<string, string>> {
  if (evictionHard === undefined) return defaultEvictionHard;
  return mergeDefaultEvictionSettings ? { ...defaultEvictionHard, ...evictionHard } : evictionHard;
}

/** The amount that a threshold keeps free of a capacity. */
export function thresholdBytes(threshold: Threshold, capacityBytes: number): number {
  return 'bytes' in threshold ? threshold.bytes : Math.floor(capacityBytes * threshold.share);
}

/** @throws {InvalidInput} when more is kept back than there is: no pod could run, and the numbers are a mistake */
export function checkBudget({ reserved, thresholds }: NodeBudget, capacity: BudgetCapacity): void {
  const kept = {
    cpu: [reserved.cpuMilli / 1000, capacity.cpuMilli / 1000],
    memory: [reserved.memoryBytes + thresholdBytes(thresholds.memory, capacity.memoryBytes), capacity.memoryBytes],
    'ephemeral-storage': [
      reserved.ephemeralStorageBytes + thresholdBytes(thresholds.ephemeralStorage, capacity.ephemeralStorageBytes),
      capacity.ephemeralStorageBytes,
    ],
  } as const;
  const wrong = Object.entries(kept).filter(([, [asked, there]]) => asked > there);
  if (wrong.length === 0) return;
  const texts = wrong.map(
    ([name, [asked, there]]) => `Resource "${name}" has a reservation of ${asked} but capacity of ${there}. Expected capacity >= reservation.`,
  );
  throw new InvalidInput({
    message: `invalid Node Allocatable configuration. ${texts.join(' ')}`,
    hint: 'lower systemReserved, kubeReserved or evictionHard',
  });
}

/** CPUs that the system has for itself take the place of both reservations. */
function reservedCpus({ reservedSystemCPUs, systemReservedCgroup, kubeReservedCgroup }: BudgetConfiguration): number | undefined {
  if (reservedSystemCPUs === '') return undefined;
  if (systemReservedCgroup !== '' || kubeReservedCgroup !== '') {
    throw new InvalidInput({
      message:
        "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    });
  }
  return cpusOf(reservedSystemCPUs, 'reservedSystemCPUs').length;
}

const readers: Readonly<Record<string, (text: string) => Partial<ReservedResources>>> = {
  cpu: (text) => ({ cpuMilli: quantityToMilli(text) }),
  memory: (text) => ({ memoryBytes: quantityToNumber(text) }),
  'ephemeral-storage': (text) => ({ ephemeralStorageBytes: quantityToNumber(text) }),
  pid: (text) => ({ pids: quantityToNumber(text) }),
};

function reservedOf(amounts: Readonly<Record<string, string>>): ReservedResources {
  const parts = Object.entries(amounts).map(([name, text]) => {
    const read = readers[name];
    if (read === undefined)
      throw new InvalidInput({ message: `cannot reserve "${name}" resource`, hint: `known are ${Object.keys(readers).join(', ')}` });
    if (text.trim().startsWith('-')) throw new InvalidInput({ message: `resource quantity for "${name}" cannot be negative: ${text}` });
    return read(text);
  });
  return Object.assign({}, nothingReserved, ...parts);
}

/** 0% and 100% switch a threshold off. Shares have the precision of a 32-bit float, as upstream's. */
function thresholdOf(text: string | undefined): Threshold {
  if (text === undefined || text === '0%' || text === '100%') return { bytes: 0 };
  if (text.endsWith('%')) return { share: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100) };
  return { bytes: quantityToNumber(text) };
}
