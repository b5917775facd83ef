import { semanticEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden } from '#api/field-problem.ts';
import type { PartialUpdate } from '#api/kind.ts';
import { mirrorAnnotation } from '#api/pod/mirror-annotation.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { validatePod } from './pod.ts';
import { withChangedSpec } from './spec-generation.ts';

const field = 'spec.ephemeralContainers';

/** `pods/ephemeralcontainers`: containers for people who look into a pod come, and never change or go. */
export const ephemeralContainersUpdate: PartialUpdate<Pod> = {
  fields: ['spec.ephemeralContainers'],
  prepare: (next, previous) => {
    const { ephemeralContainers: _, ...kept } = previous.spec ?? { containers: [] };
    const ephemeralContainers = next.spec?.ephemeralContainers ?? [];
    return withChangedSpec(next, previous, ephemeralContainers.length === 0 ? kept : { ...kept, ephemeralContainers });
  },
  validate: (next, previous) => {
    if (previous.metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbidden('', 'static pods do not support ephemeral containers')];
    return [...validatePod(next), ...changedContainers(next, previous)];
  },
};

function changedContainers(next: Pod, previous: Pod): readonly FieldProblem[] {
  const after = new Map((next.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (previous.spec?.ephemeralContainers ?? []).flatMap((before) => {
    const now = after.get(before.name);
    if (now === undefined) return [forbidden(field, `existing ephemeral containers "${before.name}" may not be removed\n`)];
    if (semanticEqual(now, before)) return [];
    return [forbidden(field, `existing ephemeral containers "${before.name}" may not be changed\n`)];
  });
}
