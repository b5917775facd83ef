import type { KubeObject } from '#api/object.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '#api/types/core-v1.ts';

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
export const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

/** What is to be done with the finalizer that keeps an object while it is in use. */
export type ProtectionPlan = 'nothing' | 'protect' | 'release';

export function planClaim(claim: PersistentVolumeClaim, pods: readonly Pod[]): ProtectionPlan {
  return plan(claim, CLAIM_FINALIZER, () => pods.some((pod) => usesClaim(pod, claim)));
}

export function planVolume(volume: PersistentVolume): ProtectionPlan {
  return plan(volume, VOLUME_FINALIZER, () => volume.status?.phase === 'Bound');
}

export function withFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  return { ...object, metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] } };
}

export function withoutFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The names of the claims that a pod's volumes are, its own ephemeral ones included. */
export function claimsOf(pod: Pod): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimOf(pod, volume) ?? []);
}

function plan(object: KubeObject, finalizer: string, isInUse: () => boolean): ProtectionPlan {
  const isProtected = (object.metadata.finalizers ?? []).includes(finalizer);
  if (object.metadata.deletionTimestamp === undefined) return isProtected ? 'nothing' : 'protect';
  return isProtected && !isInUse() ? 'release' : 'nothing';
}

/** A pod without a node does not count: its kubelet will not start it with a claim that goes. One that is done does. */
function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if ((pod.spec?.nodeName ?? '') === '') return false;
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (claimOf(pod, volume) !== claim.metadata.name) return false;
    return volume.ephemeral === undefined || (!isShutDown(pod) && isOwnedBy(claim, pod));
  });
}

function claimOf(pod: Pod, volume: Volume): string | undefined {
  return volume.ephemeral === undefined ? volume.persistentVolumeClaim?.claimName : `${pod.metadata.name}-${volume.name}`;
}

function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

function isOwnedBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uid === pod.metadata.uid);
}
