import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';

/** Amount by resource name: cpu in thousandths of a core, everything else in base units (bytes, pieces). */
export type Resources = ReadonlyMap<string, number>;

type ResourceList = Readonly<Record<string, string>> | undefined;

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

/** A list of quantities as numbers. */
export function resourcesOf(list: ResourceList): Resources {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text)]));
}

/** Whether pod-level resources may name it. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** An init container that keeps running beside the others. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

export function addResources(a: Resources, b: Resources): Resources {
  return combine(a, b, (left, right) => left + right);
}

export function maxResources(a: Resources, b: Resources): Resources {
  return combine(a, b, Math.max);
}

function podResources(pod: Pick<Pod, 'spec'>, part: 'requests' | 'limits'): Resources {
  const { spec } = pod;
  if (spec === undefined) return new Map();
  const ownLists = spec.containers.map((container) => resourcesOf(container.resources?.[part]));
  const aggregate = maxResources(
    ownLists.reduce(addResources, allSidecars(spec.initContainers ?? [], part)),
    initPeak(spec.initContainers ?? [], part),
  );
  const podLevel = [...resourcesOf(spec.resources?.[part])].filter(([name]) => isPodLevelResource(name));
  const asked = new Map([...aggregate, ...podLevel]);
  const overhead = [...resourcesOf(spec.overhead)].filter(([name]) => part === 'requests' || (asked.get(name) ?? 0) > 0);
  return addResources(asked, new Map(overhead));
}

function allSidecars(containers: readonly Container[], part: 'requests' | 'limits'): Resources {
  return containers
    .filter(isSidecar)
    .map((container) => resourcesOf(container.resources?.[part]))
    .reduce(addResources, new Map());
}

/** Most that is needed at one moment while init containers run one after the other, beside the sidecars started before. */
function initPeak(containers: readonly Container[], part: 'requests' | 'limits'): Resources {
  let peak: Resources = new Map();
  let sidecars: Resources = new Map();
  for (const container of containers) {
    const withThis = addResources(sidecars, resourcesOf(container.resources?.[part]));
    if (isSidecar(container)) sidecars = withThis;
    peak = maxResources(peak, withThis);
  }
  return peak;
}

function combine(a: Resources, b: Resources, join: (left: number, right: number) => number): Resources {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, join(sum.get(name) ?? 0, amount));
  return sum;
}
