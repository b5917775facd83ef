import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { Container, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';

/** By resource name: `cpu` in thousandths of a core, everything else in whole base units (bytes, pieces). A name that is absent is 0. */
export type Amounts = Readonly<Record<string, number>>;

type Side = 'requests' | 'limits';

/** What the pod as a whole asks for, its overhead included. Source: upstream's pod request formula. */
export function podRequests(spec: PodSpec): Amounts {
  return withOverhead(withPodLevel(aggregate(spec, 'requests'), spec, 'requests'), spec, () => true);
}

/** What the pod as a whole may use. Overhead counts only where there is a limit at all. */
export function podLimits(spec: PodSpec): Amounts {
  return withOverhead(withPodLevel(aggregate(spec, 'limits'), spec, 'limits'), spec, (limit) => limit > 0);
}

/** The sum over the containers alone: without what the pod itself asks for, without overhead. */
export function aggregate(spec: PodSpec, side: Side): Amounts {
  const apps = spec.containers.reduce((sum, container) => add(sum, containerAmounts(container.resources, side)), {} as Amounts);
  let sidecars: Amounts = {};
  let peak: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const own = add(containerAmounts(container.resources, side), sidecars);
    if (isSidecar(container)) sidecars = own;
    peak = larger(peak, own);
  }
  return larger(add(apps, sidecars), peak);
}

export function containerAmounts(resources: ResourceRequirements | undefined, side: Side): Amounts {
  return parseAmounts(resources?.[side]);
}

/** @param list as in `resources.requests`, `status.allocatable` */
export function parseAmounts(list: Readonly<Record<string, string>> | undefined): Amounts {
  return Object.fromEntries(
    Object.entries(list ?? {}).map(([name, text]) => [name, name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text)]),
  );
}

/**
 * Whether the whole pod is bounded in this resource: each container is, or the pod itself. An init container counts with the sidecars that
 * run beside it, so a sidecar's limit covers those after it.
 */
export function isLimited(spec: PodSpec, resource: 'cpu' | 'memory'): boolean {
  if ((containerAmounts(spec.resources, 'limits')[resource] ?? 0) > 0) return true;
  const limitOf = (container: Container) => containerAmounts(container.resources, 'limits')[resource] ?? 0;
  let sidecars = 0;
  for (const container of spec.initContainers ?? []) {
    const own = limitOf(container) + sidecars;
    if (own === 0) return false;
    if (isSidecar(container)) sidecars = own;
  }
  return spec.containers.every((container) => limitOf(container) > 0);
}

/** An init container that keeps running beside the others. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

/** Resources that a pod may ask for as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

export function add(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x + y);
}

function larger(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, Math.max);
}

function combine(a: Amounts, b: Amounts, join: (x: number, y: number) => number): Amounts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, join(a[name] ?? 0, b[name] ?? 0)]));
}

function withPodLevel(amounts: Amounts, spec: PodSpec, side: Side): Amounts {
  const own = Object.entries(containerAmounts(spec.resources, side)).filter(([name]) => isPodLevelResource(name));
  return { ...amounts, ...Object.fromEntries(own) };
}

function withOverhead(amounts: Amounts, spec: PodSpec, counts: (amount: number) => boolean): Amounts {
  const overhead = Object.entries(parseAmounts(spec.overhead)).filter(([name]) => counts(amounts[name] ?? 0));
  return add(amounts, Object.fromEntries(overhead));
}
