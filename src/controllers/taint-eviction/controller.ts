import { deepEqual } from '#api/deep-equal.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { objectKey } from '#api/object.ts';
import type { Node, Pod } from '#api/types/core-v1.ts';
import { isConflict, isNotFound } from '#client/api-error.ts';
import { referenceTo } from '#client/event-recorder.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { leftMs, planStay, type Stay } from './plan.ts';

/** Deletes pods whose node has a `NoExecute` taint that they do not tolerate, or no longer. */
export async function runTaintEvictionController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const nodes = await syncedInformer(context, nodeKind, signal);
  const pods = await syncedInformer(context, podKind, signal);
  /** By the key of the pod. */
  const stays = new Map<string, Stay & { readonly uid: string }>();
  const queue = new WorkQueue({ ...context, workers: 8 });
  nodes.subscribe((change) => {
    const before = change.type === 'updated' ? noExecuteTaints(change.previous) : [];
    if (deepEqual(before, noExecuteTaints(change.object))) return;
    for (const pod of context.podsByNode.get(change.object.metadata.name)) queue.add(objectKey(pod.metadata));
  });
  pods.subscribe(({ object }) => {
    if ((object.spec?.nodeName ?? '') !== '') queue.add(objectKey(object.metadata));
  });
  await queue.run(async (key, inner) => {
    const pod = pods.get(key);
    const known = stays.get(key);
    stays.delete(key);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    const nowMs = context.clock.monotonic();
    const stay = planStay(pod, nodes.get(pod.spec?.nodeName ?? ''), known?.uid === pod.metadata.uid ? known : undefined, nowMs);
    if (stay === undefined) {
      if (known?.uid === pod.metadata.uid) tell(context, pod, 'Cancelling deletion of Pod');
      return;
    }
    stays.set(key, { ...stay, uid: pod.metadata.uid });
    const waitMs = leftMs(stay, nowMs);
    if (waitMs > 0) queue.addAfter(key, waitMs);
    else await evict(context, pod, inner);
  }, signal);
}

function noExecuteTaints(node: Node): readonly unknown[] {
  return (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

function tell(context: ControllerContext, pod: Pod, what: string): void {
  const message = `${what} ${pod.metadata.namespace}/${pod.metadata.name}`;
  context.events.emit(referenceTo(pod), { type: 'Normal', reason: 'TaintManagerEviction', message });
}

async function evict(context: ControllerContext, pod: Pod, signal: AbortSignal): Promise<void> {
  tell(context, pod, 'Marking for deletion Pod');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: timestamp(context.clock.now()),
  };
  const { uid } = pod.metadata;
  try {
    await context.client.patch(podKind, pod.metadata, 'strategic', { metadata: { uid }, status: { conditions: [condition] } }, 'status', signal);
    await context.client.delete(podKind, pod.metadata, { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or another pod has its name
  }
}
