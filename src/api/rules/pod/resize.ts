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

/** `pods/resize`: processor and memory of containers, and of the pod as a whole. */
export const resizeUpdate: PartialUpdate<Pod> = {
  fields: ['spec.resources', ...lists.flatMap((list) => ['resources', 'resizePolicy'].map((field) => `spec.${list}.*.${field}`))],
  prepare: (next, previous) => {
    const [after, before] = [next.spec, previous.spec];
    if (after === undefined || before === undefined || !lists.every((list) => after[list]?.length === before[list]?.length)) return next; // refused below
    const { resources: _, ...kept } = before;
    const resources = after.resources === undefined ? {} : { resources: after.resources };
    return withChangedSpec(next, previous, { ...kept, ...resources, ...resizedLists(after, before) });
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
  return [
    ...validateOwn(next.resources, previous.resources),
    ...lists.flatMap((list) =>
      (previous[list] ?? []).flatMap((before, index) => {
        const after = next[list]?.[index] ?? before;
        const field = `spec.${list}[${index}]`;
        const removed = removedParts(after.resources, before.resources).map((part) =>
          forbidden(`${field}.resources.${part}`, `resource ${part} cannot be removed`),
        );
        return [...removed, ...(list === 'containers' ? validateContainer(after, before) : validateInitContainer(after, before, field))];
      }),
    ),
  ];
}

/** What the containers of the pod share. */
function validateOwn(next: ResourceRequirements | undefined, previous: ResourceRequirements | undefined): readonly FieldProblem[] {
  if (next === undefined) return previous === undefined ? [] : [forbidden('spec.resources', 'pod-level resources cannot be removed')];
  const removed = removedParts(next, previous).map((part) => forbidden(`spec.resources.${part}`, `pod-level resource ${part} cannot be removed`));
  const isOther = !semanticEqual(besidesSize(next), besidesSize(previous));
  return [...removed, ...(isOther ? [forbidden('spec', 'only cpu and memory resources are mutable at pod-level')] : [])];
}

function validateContainer(next: Container, previous: Container): readonly FieldProblem[] {
  return isSameBesides(next, previous) ? [] : [forbidden('spec', 'only cpu and memory resources are mutable')];
}

function validateInitContainer(next: Container, previous: Container, field: string): readonly FieldProblem[] {
  if (isSameBesides(next, previous)) return [];
  return [forbidden(field, 'only cpu and memory resources for init or sidecar containers are mutable')];
}

function removedParts(next: ResourceRequirements | undefined, previous: ResourceRequirements | undefined): readonly ('requests' | 'limits')[] {
  return (['requests', 'limits'] as const).filter((part) => Object.keys(previous?.[part] ?? {}).some((name) => next?.[part]?.[name] === undefined));
}

/** But for processor, memory and what their change does to the container. */
function isSameBesides(next: Container, previous: Container): boolean {
  const others = ({ resources, resizePolicy: _, ...container }: Container) => ({ ...container, resources: besidesSize(resources) });
  return semanticEqual(others(next), others(previous));
}

function besidesSize(resources: ResourceRequirements | undefined): ResourceRequirements {
  return { claims: resources?.claims, requests: fixed(resources?.requests), limits: fixed(resources?.limits) };
}

function fixed(amounts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => !resizable.has(name)));
}
