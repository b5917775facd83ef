import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid } from '#api/field-problem.ts';
import type { PartialUpdate } from '#api/kind.ts';
import { mirrorAnnotation } from '#api/pod/mirror-annotation.ts';
import { computeQosClass, qosClass } from '#api/pod/qos.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';
import { validatePod } from './pod.ts';
import { withChangedSpec } from './spec-generation.ts';

const lists = ['containers', 'initContainers'] as const;
const resizable: ReadonlySet<string> = new Set(['cpu', 'memory']);

/** `pods/resize`: processor and memory of containers that run. */
export const resizeUpdate: PartialUpdate<Pod> = {
  fields: lists.flatMap((list) => ['resources', 'resizePolicy'].map((field) => `spec.${list}.*.${field}`)),
  prepare: (next, previous) => {
    const [after, before] = [next.spec, previous.spec];
    if (after === undefined || before === undefined || !lists.every((list) => after[list]?.length === before[list]?.length)) return next; // refused below
    return withChangedSpec(next, previous, { ...before, ...resizedLists(after, before) });
  },
  validate: (next, previous) => {
    if (next.spec === undefined || previous.spec === undefined) return [];
    if (previous.metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbidden('', 'static pods cannot be resized')];
    if (previous.spec.os?.name === 'windows') return [forbidden('', 'windows pods cannot be resized')];
    const order = lists.flatMap((list) => validateOrder(list, next.spec?.[list] ?? [], previous.spec?.[list] ?? []));
    const problems = [...validatePod(next), ...validateWhole(next, previous), ...order];
    return order.length > 0 ? problems : [...problems, ...validateResources(next.spec, previous.spec)];
  },
};

/** Upstream takes over whole lists with a container of another name: so that they can be refused. */
function resizedLists(next: PodSpec, previous: PodSpec): Pick<PodSpec, 'containers'> & Partial<PodSpec> {
  const resized = (after: readonly Container[], before: readonly Container[]) => {
    const known = new Map(before.map((container) => [container.name, container]));
    return after.map((container) => {
      const { resources: _resources, resizePolicy: _policy, ...kept } = known.get(container.name) ?? container;
      const { resources, resizePolicy } = container;
      return { ...kept, ...(resources === undefined ? {} : { resources }), ...(resizePolicy === undefined ? {} : { resizePolicy }) };
    });
  };
  const { initContainers } = previous;
  return {
    containers: resized(next.containers, previous.containers),
    ...(initContainers === undefined ? {} : { initContainers: resized(next.initContainers ?? [], initContainers) }),
  };
}

function validateWhole(next: Pod, previous: Pod): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (qosClass(previous) !== computeQosClass(next)) {
    problems.push(invalid('spec', next.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  // A kubelet that can resize tells what running containers have.
  const running = previous.status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  if (running !== undefined && running.resources === undefined) problems.push(forbidden('spec', 'Pod running on node without support for resize'));
  return problems;
}

function validateOrder(list: (typeof lists)[number], next: readonly Container[], previous: readonly Container[]): readonly FieldProblem[] {
  if (next.length !== previous.length) return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return previous.flatMap(({ name }, index) =>
    next[index]?.name === name ? [] : [forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function validateResources(next: PodSpec, previous: PodSpec): readonly FieldProblem[] {
  const removed = lists.flatMap((list) =>
    (previous[list] ?? []).flatMap((before, index) =>
      validateRemoval(next[list]?.[index]?.resources, before, list, `spec.${list}[${index}].resources`),
    ),
  );
  const init = (previous.initContainers ?? []).flatMap((before, index) => {
    const after = next.initContainers?.[index] ?? before;
    if (!isSidecar(before)) return semanticEqual(after, before) ? [] : [forbidden('spec', 'resources for non-sidecar init containers are immutable')];
    return isSameBesides(after, before) ? [] : [forbidden('spec', 'only cpu and memory resources for sidecar containers are mutable')];
  });
  const problems = [...removed, ...init];
  if (problems.length > 0) return problems;
  const others = previous.containers.some((before, index) => !isSameBesides(next.containers[index] ?? before, before));
  return others ? [forbidden('spec', 'only cpu and memory resources are mutable\n')] : [];
}

function validateRemoval(
  next: ResourceRequirements | undefined,
  before: Container,
  list: (typeof lists)[number],
  field: string,
): readonly FieldProblem[] {
  if (list === 'initContainers' && !isSidecar(before)) return [];
  return (['requests', 'limits'] as const)
    .filter((part) => Object.keys(before.resources?.[part] ?? {}).some((name) => next?.[part]?.[name] === undefined))
    .map((part) => forbidden(`${field}.${part}`, `resource ${part} cannot be removed`));
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** But for processor, memory and what their change does to the container. */
function isSameBesides(next: Container, previous: Container): boolean {
  const others = ({ resources, resizePolicy: _, ...container }: Container) => ({
    ...container,
    resources: { claims: resources?.claims, requests: fixed(resources?.requests), limits: fixed(resources?.limits) },
  });
  return semanticEqual(others(next), others(previous));
}

function fixed(amounts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => !resizable.has(name)));
}
