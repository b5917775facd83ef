import type { AppArmorProfile, Pod } from '#api/types/core-v1.ts';
import type { AdmissionInput, Refusal } from './admission-input.ts';

const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** A pod that wants to be confined must not run where nobody confines it; one that was let in once stays. */
export function appArmorPredicate({ pod, node }: AdmissionInput): Refusal | undefined {
  if (node.hasAppArmor || (pod.status?.phase ?? 'Pending') !== 'Pending' || !wantsAppArmor(pod)) return undefined;
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
}

function wantsAppArmor({ metadata, spec }: Pod): boolean {
  const contexts = [spec, ...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  const isConfined = (profile: AppArmorProfile | undefined) => profile !== undefined && profile.type !== 'Unconfined';
  const annotated = Object.entries(metadata.annotations ?? {}).some(([name, value]) => name.startsWith(ANNOTATION) && value !== 'unconfined');
  return annotated || contexts.some((one) => isConfined(one?.securityContext?.appArmorProfile));
}
