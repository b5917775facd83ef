import { qosClass } from '#api/pod/qos.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { isSameIn, type Resizable, type Size, sizeOf } from './sizes.ts';

export interface InfeasibleFacts {
  readonly cpuManagerPolicy: string;
  readonly memoryManagerPolicy: string;
  /** Whether containers of the pod may swap. */
  readonly maySwap: (pod: Pod) => boolean;
}

/** Why the node can never make this change, in upstream's words. */
export function infeasible(desired: Pod, allocated: Pod, facts: InfeasibleFacts): string | undefined {
  const changed = changedContainers(desired, allocated);
  const requestChanges = (resource: Resizable) => changed.some(({ before, after }) => !isSameRequest(before, after, resource));
  if (qosClass(desired) === 'Guaranteed') {
    const beside = (manager: string) => `Resize is infeasible for Guaranteed Pods alongside ${manager} Manager policy "static"`;
    if (facts.cpuManagerPolicy === 'static' && requestChanges('cpu')) return beside('CPU');
    if (facts.memoryManagerPolicy === 'Static' && requestChanges('memory')) return beside('Memory');
  }
  const withoutRestart = changed.some(({ before, after }) => !isSameRequest(before, after, 'memory') && !restartsFor(after).includes('memory'));
  if (withoutRestart && facts.maySwap(desired)) return 'In-place resize of containers with swap is not supported.';
  return undefined;
}

/** Resources whose change a container only takes with a restart. */
export function restartsFor({ resizePolicy = [] }: Pick<Container, 'resizePolicy'>): readonly Resizable[] {
  return (['cpu', 'memory'] as const).filter((name) =>
    resizePolicy.some(({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === 'RestartContainer'),
  );
}

/** The container has another size than it should, in a resource that it only takes anew with a restart. */
export function needsRestartToResize(container: Container, actual: Size | undefined): boolean {
  return actual !== undefined && restartsFor(container).some((name) => !isSameIn(actual, sizeOf(container.resources), name));
}

/** What the events of a resize tell: the sizes as they are allocated. */
export function resizeJson(pod: Pod, error?: string): string {
  const list = (containers: readonly Container[] | undefined) => (containers ?? []).map(({ name, resources = {} }) => ({ name, resources }));
  const { spec, metadata } = pod;
  return JSON.stringify({
    ...((spec?.initContainers ?? []).length === 0 ? {} : { initContainers: list(spec?.initContainers) }),
    ...((spec?.containers ?? []).length === 0 ? {} : { containers: list(spec?.containers) }),
    generation: metadata.generation ?? 0,
    ...(error === undefined ? {} : { error }),
  });
}

function changedContainers(desired: Pod, allocated: Pod): readonly { readonly before: Container; readonly after: Container }[] {
  const all = ({ spec }: Pod) => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const known = new Map(all(allocated).map((container) => [container.name, container]));
  return all(desired).flatMap((after) => {
    const before = known.get(after.name);
    return before === undefined ? [] : [{ before, after }];
  });
}

function isSameRequest(before: Container, after: Container, resource: Resizable): boolean {
  const requests = (container: Container) => ({ requests: sizeOf(container.resources).requests, limits: {} });
  return isSameIn(requests(before), requests(after), resource);
}
