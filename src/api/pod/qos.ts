import { quantityToMilli } from '#api/quantity.ts';
import type { Pod, ResourceRequirements } from '#api/types/core-v1.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'] as const;

/** The quality of service that a pod's spec asks for; ephemeral containers do not count. */
export function computeQosClass(pod: Pick<Pod, 'spec'>): QosClass {
  const spec = pod.spec;
  // Pod-level resources, even empty ones, are the only ones that count.
  const demands: readonly (ResourceRequirements | undefined)[] =
    spec?.resources !== undefined
      ? [spec.resources]
      : [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map((container) => container.resources);
  const hasAny = demands.some((demand) => counted.some((name) => amount(demand?.requests, name) > 0 || amount(demand?.limits, name) > 0));
  if (!hasAny) return 'BestEffort';
  const isLimited = demands.every((demand) => counted.every((name) => amount(demand?.limits, name) > 0));
  const isEven = counted.every((name) => sum(demands, 'requests', name) === sum(demands, 'limits', name));
  return isLimited && isEven ? 'Guaranteed' : 'Burstable';
}

/** The class that the pod's status has, which never changes, else the computed one. */
export function qosClass(pod: Pick<Pod, 'spec' | 'status'>): QosClass {
  const known = pod.status?.qosClass;
  return known === 'Guaranteed' || known === 'Burstable' || known === 'BestEffort' ? known : computeQosClass(pod);
}

function sum(demands: readonly (ResourceRequirements | undefined)[], part: 'requests' | 'limits', name: string): number {
  return demands.reduce((total, demand) => total + amount(demand?.[part], name), 0);
}

function amount(list: Readonly<Record<string, string>> | undefined, name: string): number {
  const text = list?.[name];
  return text === undefined ? 0 : quantityToMilli(text);
}
