import type { PodTemplateSpec } from '#api/types/core-v1.ts';
import { defaultPodSpec } from './default-pod.ts';

/** A template with everything written out that its author left to the server; one that is absent is an empty one. */
export function defaultPodTemplate(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const given = template ?? {};
  const spec = defaultPodSpec(given.spec ?? { containers: [] });
  return spec === given.spec ? given : { ...given, spec };
}
