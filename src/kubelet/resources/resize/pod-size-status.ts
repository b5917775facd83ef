import { podLimits, podRequests, type Resources } from '#api/pod/requests.ts';
import { formatQuantity, quantityOf, quantityOfMilli } from '#api/quantity.ts';
import type { Pod, PodStatus } from '#api/types/core-v1.ts';
import { isLimited } from '../is-limited.ts';

/**
 * What the pod as a whole was given, and what its cgroup has. A limit in one resource holds for the pod only when all its containers are
 * bounded in it, or the pod itself.
 *
 * @param allocated the pod with the sizes that it was given
 * @param previous the status told before: while a resize is under way the pod still has that
 */
export function podSizeStatus({ spec }: Pick<Pod, 'spec'>, previous: PodStatus['resources']): Pick<PodStatus, 'resources' | 'allocatedResources'> {
  if (spec === undefined) return {};
  const requests = quantities(podRequests({ spec }));
  const bounded = [...podLimits({ spec })].filter(([name]) => (name !== 'cpu' && name !== 'memory') || isLimited(spec, name));
  const limits = quantities(new Map(bounded));
  const resources = previous ?? { ...part('requests', requests), ...part('limits', limits) };
  return { resources, ...part('allocatedResources', requests) };
}

function part<K extends string>(key: K, amounts: Readonly<Record<string, string>>): { readonly [P in K]?: Readonly<Record<string, string>> } {
  return Object.keys(amounts).length === 0 ? {} : ({ [key]: amounts } as { readonly [P in K]: Readonly<Record<string, string>> });
}

function quantities(amounts: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...amounts].map(([name, amount]) => [name, formatQuantity(name === 'cpu' ? quantityOfMilli(amount) : quantityOf(amount, 'BinarySI'))]),
  );
}
