import { type FieldProblem, forbidden, invalid, notSupported } from '../field-problem.ts';
import type { PodTemplateSpec } from '../types/core-v1.ts';
import type { LabelSelector } from '../types/meta-v1.ts';
import { validateTemplateMetadata } from './metadata.ts';
import { validatePodSpec } from './pod/pod-spec.ts';
import { isReadableSelector, validateSelected } from './workload.ts';

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

/** The pods of a deployment and of its replica sets: selected by their owner, and to run for ever. @param field such as `spec` */
export function validateReplicaPods(
  { selector, template }: { readonly selector?: LabelSelector | undefined; readonly template?: PodTemplateSpec | undefined },
  field: string,
): readonly FieldProblem[] {
  if (selector !== undefined && !isReadableSelector(selector)) return [invalid(`${field}.selector`, selector, 'invalid label selector')];
  const at = `${field}.template`;
  return [
    ...validateSelected(selector, template, at),
    ...validatePodTemplate(template, at),
    ...validateLastingPods(template, 'ReplicaSet', at), // upstream's word for both
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
