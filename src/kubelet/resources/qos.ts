import type { Pod, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';
import { containerAmounts } from './pod-resources.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const RESOURCES = ['cpu', 'memory'] as const;

/** The class that the pod was given once, else the one that its spec means. */
export function qosClassOf(pod: Pick<Pod, 'spec' | 'status'>): QosClass {
  const given = pod.status?.qosClass;
  if (given === 'Guaranteed' || given === 'Burstable' || given === 'BestEffort') return given;
  return pod.spec === undefined ? 'BestEffort' : computeQosClass(pod.spec);
}

/** Guaranteed: each container is limited in CPU and memory, and the sums of requests and limits agree. BestEffort: nothing is asked for. */
export function computeQosClass(spec: PodSpec): QosClass {
  const askers =
    spec.resources === undefined ? [...(spec.initContainers ?? []), ...spec.containers].map(({ resources }) => resources) : [spec.resources];
  const amounts = askers.map((resources) => ({ requests: cpuAndMemory(resources, 'requests'), limits: cpuAndMemory(resources, 'limits') }));
  if (amounts.every(({ requests, limits }) => RESOURCES.every((name) => requests[name] === 0 && limits[name] === 0))) return 'BestEffort';
  const sum = (side: 'requests' | 'limits', name: 'cpu' | 'memory') => amounts.reduce((total, of) => total + of[side][name], 0);
  const isGuaranteed = RESOURCES.every((name) => amounts.every(({ limits }) => limits[name] > 0) && sum('requests', name) === sum('limits', name));
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function cpuAndMemory(resources: ResourceRequirements | undefined, side: 'requests' | 'limits') {
  const { cpu = 0, memory = 0 } = containerAmounts(resources, side);
  return { cpu, memory };
}
