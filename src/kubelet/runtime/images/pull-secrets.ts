import type { Pod, Secret } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import { refOf } from '../pod-ref.ts';

/** The pod's pull secrets in its order. One that cannot be had is told of, and the pull goes on without it. */
export async function pullSecrets(
  pod: Pod,
  { objects, events }: { readonly objects: ObjectsPort; readonly events: EventsPort },
  signal: AbortSignal,
): Promise<readonly Secret[]> {
  // A name may be empty: charts write it so for none.
  const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name = '' }) => (name === '' ? [] : [name]));
  const found = await Promise.all(
    names.map(async (name) => {
      try {
        return { name, secret: await objects.secret(pod.metadata.namespace, name, signal) };
      } catch (error) {
        if (signal.aborted || !(error instanceof AppError)) throw error;
        return { name, secret: undefined };
      }
    }),
  );
  const missing = found.filter(({ secret }) => secret === undefined).map(({ name }) => name);
  if (missing.length > 0) {
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
    events.emit(refOf(pod), { type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message });
  }
  return found.flatMap(({ secret }) => (secret === undefined ? [] : [secret]));
}
