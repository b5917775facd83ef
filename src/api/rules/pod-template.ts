import { type FieldProblem, forbidden, notSupported } from '../field-problem.ts';
import type { PodTemplateSpec } from '../types/core-v1.ts';
import { validateTemplateMetadata } from './metadata.ts';
import { validatePodSpec } from './pod/pod-spec.ts';

/** A template of pods, defaulted. @param field such as `spec.template` */
export function validatePodTemplate(template: PodTemplateSpec | undefined, field: string): readonly FieldProblem[] {
  const spec = template?.spec ?? { containers: [] };
  return [
    ...validateTemplateMetadata(template?.metadata ?? {}, field), // `spec.template.labels` is upstream's path for them
    ...validatePodSpec(spec, `${field}.spec`),
    ...((spec.ephemeralContainers ?? []).length === 0
      ? []
      : [forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]),
  ];
}

/** Pods that are to run for ever. @param kind is named in the message */
export function validateLastingPods(template: PodTemplateSpec | undefined, kind: string, field: string): readonly FieldProblem[] {
  const { restartPolicy, activeDeadlineSeconds } = template?.spec ?? {};
  return [
    ...(restartPolicy === 'Always' ? [] : [notSupported(`${field}.spec.restartPolicy`, restartPolicy ?? '', ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
}
