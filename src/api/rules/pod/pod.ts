import { type FieldProblem, invalid } from '#api/field-problem.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { validatePodSpec } from './pod-spec.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** A pod beyond its metadata, defaulted. */
export function validatePod(pod: Pod): readonly FieldProblem[] {
  const spec = pod.spec ?? { containers: [] };
  const mirror = pod.metadata.annotations?.[mirrorAnnotation];
  const isMisplaced = mirror !== undefined && (spec.nodeName ?? '') === '';
  const problems = isMisplaced
    ? [invalid(`metadata.annotations[${mirrorAnnotation}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set')]
    : [];
  return [...problems, ...validatePodSpec(spec, 'spec')];
}
