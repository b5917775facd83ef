import { compareQuantities } from '#api/quantity.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';

export const resizable = ['cpu', 'memory'] as const;
export type Resizable = (typeof resizable)[number];
type Amounts = { readonly [Name in Resizable]?: string };

/** What of a container's or of a pod's resources can be changed while it runs. */
export interface Size {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Sizes of a pod's containers by name, and its own. */
export interface PodSizes {
  readonly containers: Readonly<Record<string, Size>>;
  readonly pod: Size | undefined;
}

export function sizeOf(resources: ResourceRequirements | undefined): Size {
  return { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) };
}

export function sizesOf({ spec }: Pick<Pod, 'spec'>): PodSizes {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return {
    containers: Object.fromEntries(all.map(({ name, resources }) => [name, sizeOf(resources)])),
    pod: spec?.resources === undefined ? undefined : sizeOf(spec.resources),
  };
}

/** Quantities are compared, not their texts. */
export function isSameSize(a: Size, b: Size): boolean {
  return resizable.every((name) => isSameIn(a, b, name));
}

export function isSameIn(a: Size, b: Size, name: Resizable): boolean {
  return isEqual(a.requests[name], b.requests[name]) && isEqual(a.limits[name], b.limits[name]);
}

/** Containers that only one of the two has do not count: ephemeral ones come and go. */
export function areSameSizes(a: PodSizes, b: PodSizes): boolean {
  const nothing = sizeOf(undefined);
  return (
    isSameSize(a.pod ?? nothing, b.pod ?? nothing) &&
    Object.entries(a.containers).every(([name, size]) => {
      const other = b.containers[name];
      return other === undefined || isSameSize(size, other);
    })
  );
}

/** The pod with other sizes; what cannot be resized stays. */
export function withSizes(pod: Pod, sizes: PodSizes): Pod {
  const { spec } = pod;
  if (spec === undefined || areSameSizes(sizesOf(pod), sizes)) return pod;
  const sized = (containers: readonly Container[]) =>
    containers.map((container) => {
      const size = sizes.containers[container.name];
      return size === undefined ? container : { ...container, resources: withSize(container.resources, size) };
    });
  const changed: PodSpec = {
    ...spec,
    containers: sized(spec.containers),
    ...(spec.initContainers === undefined ? {} : { initContainers: sized(spec.initContainers) }),
    ...(sizes.pod === undefined ? {} : { resources: withSize(spec.resources, sizes.pod) }),
  };
  return { ...pod, spec: changed };
}

export function withSize(resources: ResourceRequirements | undefined, size: Size): ResourceRequirements {
  const part = (given: Readonly<Record<string, string>> | undefined, amounts: Amounts) => {
    const fixed = Object.entries(given ?? {}).filter(([name]) => !resizable.some((one) => one === name));
    return Object.fromEntries([...Object.entries(amounts), ...fixed]);
  };
  const [limits, requests] = [part(resources?.limits, size.limits), part(resources?.requests, size.requests)];
  const { limits: _limits, requests: _requests, ...rest } = resources ?? {};
  return { ...(Object.keys(limits).length === 0 ? {} : { limits }), ...(Object.keys(requests).length === 0 ? {} : { requests }), ...rest };
}

/** The larger of both in each amount: while a container shrinks it still has what it had. */
export function largerSize(a: Size, b: Size): Size {
  const larger = (x: Amounts, y: Amounts): Amounts =>
    Object.fromEntries(
      resizable.flatMap((name) => {
        const [left, right] = [x[name], y[name]];
        const most = left === undefined || (right !== undefined && compareQuantities(right, left) > 0) ? right : left;
        return most === undefined ? [] : [[name, most]];
      }),
    );
  return { requests: larger(a.requests, b.requests), limits: larger(a.limits, b.limits) };
}

/** @returns undefined for what is not the text of a size */
export function parseSize(text: string | undefined): Size | undefined {
  if (text === undefined) return undefined;
  try {
    return sizeOf(JSON.parse(text));
  } catch {
    return undefined; // of somebody else: as if it were not there
  }
}

function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  return Object.fromEntries(resizable.flatMap((name) => (list?.[name] === undefined ? [] : [[name, list[name]]])));
}

function isEqual(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0;
}
