import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { objectKey } from '#api/object.ts';
import { messageOf } from '#base/errors.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import { timestamp } from '#client/timestamps.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { isTerminated, missingNodes, type PodToDelete, planPodGc } from './plan.ts';

/** Upstream's. */
const TERMINATED_LIMIT = 12_500;

/** Deletes pods that no kubelet will finish: their node is gone, or they never had one. */
export async function runPodGcController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const nodes = await syncedInformer(context, nodeKind, signal);
  const pods = await syncedInformer(context, podKind, signal);
  /** Since when a node is missing, monotonic. */
  const missingSince = new Map<string, number>();
  while (!signal.aborted) {
    const missing = missingNodes(pods.list(), nodes.list());
    const nowMs = context.clock.monotonic();
    for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
    for (const name of missing) if (!missingSince.has(name)) missingSince.set(name, nowMs);
    const overdue = [...missingSince].filter(([, sinceMs]) => nowMs - sinceMs >= context.timings.orphanQuarantineMs).map(([name]) => name);
    const goneNodes = new Set<string>();
    for (const name of overdue) if (await isReallyGone(context, name, signal)) goneNodes.add(name);
    for (const one of planPodGc({ pods: pods.list(), nodes: nodes.list(), goneNodes, terminatedLimit: TERMINATED_LIMIT })) {
      await remove(context, one, signal);
    }
    await context.clock.sleep(context.timings.podGcIntervalMs, signal).catch(() => undefined); // an aborted wait ends the loop
  }
}

/** The informer may be behind: what cannot be undone is checked on the server. */
async function isReallyGone(context: ControllerContext, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await context.client.get(nodeKind, { name }, signal);
    return false;
  } catch (error) {
    return isNotFound(error);
  }
}

async function remove(context: ControllerContext, { pod, reason }: PodToDelete, signal: AbortSignal): Promise<void> {
  const { uid } = pod.metadata;
  const lastTransitionTime = timestamp(context.clock.now());
  const told = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists', lastTransitionTime };
  const conditions = reason === 'orphaned' ? { conditions: [told] } : {};
  try {
    if (!isTerminated(pod)) {
      // Nobody will report its end: counted as failed, so that its owner replaces it.
      const patch = { metadata: { uid }, status: { phase: 'Failed', ...conditions } };
      await context.client.patch(podKind, pod.metadata, 'strategic', patch, 'status', signal);
    }
    await context.client.delete(podKind, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid } }, signal);
  } catch (error) {
    if (signal.aborted || isNotFound(error) || isConflict(error)) return; // gone, or another pod has its name
    context.logger.warn('a pod was not removed; the next round tries again', { pod: objectKey(pod.metadata), reason, error: messageOf(error) });
  }
}
