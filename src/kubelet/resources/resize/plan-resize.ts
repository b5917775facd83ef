import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { CgroupLimits, CgroupSettings } from '../../ports/cgroups.ts';
import { isSameIn, type Resizable, type Size } from './sizes.ts';

/** A container that runs, with what it has and what it is to have. */
export interface ResizedContainer {
  readonly id: string;
  readonly name: string;
  readonly actual: Size;
  readonly wanted: Size;
  /** Resources whose change needs a restart, which is somebody else's deed. */
  readonly restartsFor: readonly Resizable[];
}

export type ResizeAction =
  | { readonly kind: 'pod'; readonly direction: 'up' | 'down'; readonly settings: CgroupSettings }
  | { readonly kind: 'container'; readonly id: string; readonly name: string; readonly size: Size };

/**
 * In which order the cgroups of a pod and of its containers are changed, so that at no moment a container's limit is above its pod's: the pod
 * grows before its containers and shrinks after them, and among them those that shrink come first. Memory before CPU.
 */
export function planResize(now: CgroupLimits, wanted: CgroupSettings, containers: readonly ResizedContainer[]): readonly ResizeAction[] {
  const changing = containers.map((container) => ({ ...container, size: container.actual }));
  return (['memory', 'cpu'] as const).flatMap((resource) => {
    const limit = resource === 'memory' ? memoryChange(now, wanted) : quotaChange(now, wanted);
    const shares = resource === 'cpu' ? sharesChange(now, wanted) : undefined;
    const updates = changing
      .filter(({ actual, wanted: next, restartsFor }) => !isSameIn(actual, next, resource) && !restartsFor.includes(resource))
      .sort((a, b) => growth(a, resource) - growth(b, resource))
      .map((container): ResizeAction => {
        container.size = take(container.size, container.wanted, resource);
        return { kind: 'container', id: container.id, name: container.name, size: container.size };
      });
    const pod = (change: Change | undefined, direction: Change['direction']): readonly ResizeAction[] =>
      change?.direction === direction ? [{ kind: 'pod', ...change }] : [];
    return [...pod(limit, 'up'), ...pod(shares, 'up'), ...updates, ...pod(shares, 'down'), ...pod(limit, 'down')];
  });
}

interface Change {
  readonly direction: 'up' | 'down';
  readonly settings: CgroupSettings;
}

/** A limit that is no longer wanted keeps its value, as upstream has it; one that is new is like one that shrinks. */
function memoryChange(now: CgroupLimits, { memoryLimitBytes: wanted, unified }: CgroupSettings): Change | undefined {
  if (wanted === undefined || wanted === now.memoryLimitBytes) return undefined;
  const settings = { memoryLimitBytes: wanted, ...(unified === undefined ? {} : { unified }) };
  return { direction: now.memoryLimitBytes >= 0 && wanted > now.memoryLimitBytes ? 'up' : 'down', settings };
}

function quotaChange(now: CgroupLimits, { cpuQuotaUs, cpuPeriodUs }: CgroupSettings): Change | undefined {
  if (cpuQuotaUs === undefined || cpuQuotaUs < 0) return undefined;
  if (cpuQuotaUs === now.cpuQuotaUs && (cpuPeriodUs ?? now.cpuPeriodUs) === now.cpuPeriodUs) return undefined;
  return { direction: now.cpuQuotaUs >= 0 && cpuQuotaUs > now.cpuQuotaUs ? 'up' : 'down', settings: { cpuQuotaUs, cpuPeriodUs } };
}

function sharesChange(now: CgroupLimits, { cpuShares }: CgroupSettings): Change | undefined {
  if (cpuShares === undefined || cpuShares === now.cpuShares) return undefined;
  return { direction: cpuShares > now.cpuShares ? 'up' : 'down', settings: { cpuShares } };
}

/** Below 0: it shrinks. By its limit, or by its request where that alone changes. */
function growth({ actual, wanted }: Pick<ResizedContainer, 'actual' | 'wanted'>, resource: Resizable): number {
  const read = (text: string | undefined, none: number) =>
    text === undefined ? none : resource === 'cpu' ? quantityToMilli(text) : quantityToNumber(text);
  const limits = [actual, wanted].map(({ limits: amounts }) => read(amounts[resource], Number.MAX_SAFE_INTEGER)) as [number, number];
  if (limits[0] !== limits[1]) return Math.sign(limits[1] - limits[0]);
  return Math.sign(read(wanted.requests[resource], 0) - read(actual.requests[resource], 0));
}

function take(size: Size, from: Size, resource: Resizable): Size {
  const part = (own: Size['requests'], other: Size['requests']) => {
    const { [resource]: _old, ...rest } = own;
    const value = other[resource];
    return value === undefined ? rest : { ...rest, [resource]: value };
  };
  return { requests: part(size.requests, from.requests), limits: part(size.limits, from.limits) };
}
