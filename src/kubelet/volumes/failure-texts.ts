import { quote } from '#api/quote.ts';
import { AppError, Cancelled } from '#base/errors.ts';
import type { WakeKey } from '#startup/transition.ts';
import type { VolumesOutcome } from '../ports/volumes.ts';
import { VolumeSetUpFailed } from './volume-plugin.ts';

export interface VolumeFailure {
  readonly volume: string;
  readonly error: AppError;
}

/** A pod that waits for an object is woken by it: then time is only the net. */
const NET_MS = 60_000;

/** @throws what is a bug, and the end of the work */
export function failureOf(volume: string, error: unknown): VolumeFailure {
  if (error instanceof AppError && !(error instanceof Cancelled)) return { volume, error };
  throw error;
}

/** Upstream's words for the event. */
export function failureText({ volume, error }: VolumeFailure): string {
  return `MountVolume.SetUp failed for volume ${quote(volume)} : ${error.message}`;
}

/** @param retryMs for what nothing but time may mend */
export function waitFor(failures: readonly VolumeFailure[], retryMs: () => number): VolumesOutcome {
  const keys = failures.flatMap(({ error }): readonly WakeKey[] => {
    const refs = error instanceof VolumeSetUpFailed ? error.wakeOn : [];
    return refs.length > 0 ? refs.map((ref) => ({ kind: 'object', ref }) as const) : [{ kind: 'time' }];
  });
  const needsTime = keys.some(({ kind }) => kind === 'time');
  return {
    kind: 'wait',
    reason: 'FailedMount',
    detail: failures.map(failureText).join('; '),
    wakeOn: keys,
    atLatestMs: needsTime ? retryMs() : NET_MS,
  };
}
