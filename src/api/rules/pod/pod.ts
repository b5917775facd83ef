import { type FieldProblem, forbidden, invalid } from '#api/field-problem.ts';
import { mirrorAnnotation } from '#api/pod/mirror-annotation.ts';
import type { Pod, PodSpec } from '#api/types/core-v1.ts';
import { validatePodSpec } from './pod-spec.ts';

/** A pod beyond its metadata, defaulted. */
export function validatePod(pod: Pod): readonly FieldProblem[] {
  const spec = pod.spec ?? { containers: [] };
  const mirror = pod.metadata.annotations?.[mirrorAnnotation];
  const isMisplaced = mirror !== undefined && (spec.nodeName ?? '') === '';
  const problems = isMisplaced
    ? [invalid(`metadata.annotations[${mirrorAnnotation}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set')]
    : [];
  return [...problems, ...validateTokens(spec), ...validatePodSpec(spec, 'spec')];
}

/** A template may still be without an account: its pods get one. */
function validateTokens({ serviceAccountName = '', volumes = [] }: PodSpec): readonly FieldProblem[] {
  if (serviceAccountName !== '') return [];
  return volumes.flatMap(({ projected }, volume) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, source) =>
      serviceAccountToken === undefined
        ? []
        : [
            forbidden(
              `spec.volumes[${volume}].projected.sources[${source}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}
