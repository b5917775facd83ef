import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';
import { isSidecar, sidecarsOf } from './sidecars.ts';

/** Amount by resource name: cpu in thousandths of a core, everything else in base units (bytes, pieces). */
export type Resources = ReadonlyMap<string, number>;

type ResourceList = Readonly<Record<string, string>> | undefined;
type Part = keyof Pick<ResourceRequirements, 'requests' | 'limits'>;

/**
 * What a pod asks a node for: `max(app containers + sidecars, peak while init containers run) + overhead`; pod-level requests take the place
 * of the aggregate for the resources that they name.
 */
export function podRequests(pod: Pick<Pod, 'spec'>): Resources {
  return podResources(pod, 'requests');
}

/** The limits in the same way; overhead is added only where there is a limit. */
export function podLimits(pod: Pick<Pod, 'spec'>): Resources {
  return podResources(pod, 'limits');
}

/** What the containers alone ask for: without what the pod itself says, without overhead. */
export function aggregateRequests(spec: PodSpec): Resources {
  return aggregate(spec, 'requests');
}

/** A list of quantities as numbers. */
export function resourcesOf(list: ResourceList): Resources {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text)]));
}

/** Whether pod-level resources may name it. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

export function addResources(a: Resources, b: Resources): Resources {
  return combine(a, b, (left, right) => left + right);
}

function podResources({ spec }: Pick<Pod, 'spec'>, part: Part): Resources {
  if (spec === undefined) return new Map();
  const podLevel = [...resourcesOf(spec.resources?.[part])].filter(([name]) => isPodLevelResource(name));
  const asked = new Map([...aggregate(spec, part), ...podLevel]);
  const overhead = [...resourcesOf(spec.overhead)].filter(([name]) => part === 'requests' || (asked.get(name) ?? 0) > 0);
  return addResources(asked, new Map(overhead));
}

function aggregate(spec: PodSpec, part: Part): Resources {
  const together = [...sidecarsOf({ spec }), ...spec.containers].map((container) => resourcesOf(container.resources?.[part]));
  return maxResources(together.reduce(addResources, new Map()), initPeak(spec.initContainers ?? [], part));
}

/** Most that is needed at one moment while init containers run one after the other, beside the sidecars started before. */
function initPeak(containers: readonly Container[], part: Part): Resources {
  let peak: Resources = new Map();
  let sidecars: Resources = new Map();
  for (const container of containers) {
    const withThis = addResources(sidecars, resourcesOf(container.resources?.[part]));
    if (isSidecar(container)) sidecars = withThis;
    peak = maxResources(peak, withThis);
  }
  return peak;
}

function maxResources(a: Resources, b: Resources): Resources {
  return combine(a, b, Math.max);
}

function combine(a: Resources, b: Resources, join: (left: number, right: number) => number): Resources {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, join(sum.get(name) ?? 0, amount));
  return sum;
}
