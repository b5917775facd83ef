import type { AdmissionInput, Refusal } from './admission-input.ts';

const OS_LABEL = 'kubernetes.io/os';

/** The pod's own label, not its selector: upstream looks there too. */
export function operatingSystemPredicate({ pod }: AdmissionInput): Refusal | undefined {
  const label = pod.metadata.labels?.[OS_LABEL];
  if (label !== undefined && label !== 'linux') {
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label" };
  }
  const name = pod.spec?.os?.name;
  if (name !== undefined && name !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  return undefined;
}
