import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Refusal } from '../status/compute-pod-status.ts';
import type { ShutdownGroup } from './periods.ts';

export interface EndPodsDeps {
  /** Stops a pod and waits until nothing of it runs, within reason. */
  readonly putOut: (pod: Pod, refusal: Refusal, graceSeconds: number) => Promise<unknown>;
  /** Waits until a pod that was stopped holds nothing any more, such as volumes, within reason. */
  readonly untilStopped: (pod: Pod, withinMs: number) => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const refusal: Refusal = {
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
  putOut: { isDisruption: true, keepsSuccess: true },
};

/**
 * Ends the pods of one group after the other; a group that takes longer than it may goes on beside the next.
 *
 * @throws {Cancelled} between two groups, and while one is waited for; what was told to stop stops
 */
export async function endPods(groups: readonly ShutdownGroup[], deps: EndPodsDeps, signal: AbortSignal): Promise<void> {
  for (const { pods, priority, seconds } of groups) {
    if (pods.length === 0) continue;
    const all = Promise.all(pods.map((pod) => endPod(pod, seconds, deps)));
    try {
      await withDeadline(`the end of the pods of priority ${priority}`, seconds * 1000, deps.clock, signal, () => all);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      deps.logger.warn('pods take longer to end than a shutdown gives them', { priority, seconds });
    }
  }
}

async function endPod(pod: Pod, seconds: number, { putOut, untilStopped, logger }: EndPodsDeps): Promise<void> {
  try {
    await putOut(pod, refusal, Math.min(seconds, pod.spec?.terminationGracePeriodSeconds ?? seconds));
    await untilStopped(pod, seconds * 1000);
  } catch (error) {
    logger.warn('a pod is left as it is by a shutdown', { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, error: messageOf(error) });
  }
}
