import type { KindRef } from '#api/kind.ts';
import { persistentVolume as volumeKind } from '#api/kinds/core/v1/persistent-volume.ts';
import { persistentVolumeClaim as claimKind } from '#api/kinds/core/v1/persistent-volume-claim.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { type KubeObject, objectKey } from '#api/object.ts';
import { isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { CLAIM_FINALIZER, claimsOf, type ProtectionPlan, planClaim, planVolume, VOLUME_FINALIZER, withFinalizer, withoutFinalizer } from './plan.ts';

/** Claims that a pod of a node uses stay until the pod is gone. */
export async function runClaimProtection(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const claims = await syncedInformer(context, claimKind, signal);
  const pods = await syncedInformer(context, podKind, signal);
  const queue = new WorkQueue({ ...context, workers: 2 });
  claims.subscribe(({ type, object }) => {
    if (type !== 'deleted') queue.add(objectKey(object.metadata));
  });
  pods.subscribe(({ object }) => {
    const { namespace } = object.metadata;
    for (const name of claimsOf(object))
      if (claims.get(objectKey({ namespace, name }))?.metadata.deletionTimestamp !== undefined) queue.add(objectKey({ namespace, name }));
  });
  await queue.run(async (key, inner) => {
    const claim = claims.get(key);
    if (claim === undefined) return;
    const { namespace } = claim.metadata;
    const plan = planClaim(
      claim,
      pods.list().filter(({ metadata }) => metadata.namespace === namespace),
    );
    // Once released there is no way back: the informer may not know a pod that was bound a moment ago.
    if (plan === 'release' && planClaim(claim, (await context.client.list(podKind, { namespace }, inner)).items) !== 'release') return;
    await carryOut(context, claimKind, claim, CLAIM_FINALIZER, plan, inner);
  }, signal);
}

/** Volumes that a claim is bound to stay until they are not. */
export async function runVolumeProtection(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const volumes = await syncedInformer(context, volumeKind, signal);
  const queue = new WorkQueue({ ...context, workers: 2 });
  volumes.subscribe(({ type, object }) => {
    if (type !== 'deleted') queue.add(object.metadata.name);
  });
  await queue.run(async (name, inner) => {
    const volume = volumes.get(name);
    if (volume !== undefined) await carryOut(context, volumeKind, volume, VOLUME_FINALIZER, planVolume(volume), inner);
  }, signal);
}

async function carryOut<T extends KubeObject>(
  context: ControllerContext,
  kind: KindRef<T>,
  object: T,
  finalizer: string,
  plan: ProtectionPlan,
  signal: AbortSignal,
): Promise<void> {
  if (plan === 'nothing') return;
  const next = plan === 'protect' ? withFinalizer(object, finalizer) : withoutFinalizer(object, finalizer);
  try {
    await context.client.update(kind, next, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error; // a conflict too: the queue looks again at what is there now
  }
}
