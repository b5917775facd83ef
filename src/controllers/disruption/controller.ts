import type { KindRef } from '#api/kind.ts';
import { deployment as deploymentKind } from '#api/kinds/apps/v1/deployment.ts';
import { replicaSet as replicaSetKind } from '#api/kinds/apps/v1/replica-set.ts';
import { statefulSet as statefulSetKind } from '#api/kinds/apps/v1/stateful-set.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { replicationController as replicationControllerKind } from '#api/kinds/core/v1/replication-controller.ts';
import { podDisruptionBudget as budgetKind } from '#api/kinds/policy/v1/pod-disruption-budget.ts';
import { type KubeObject, objectKey } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import { labelSelectorCovers } from '#api/selector.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { LabelSelector } from '#api/types/meta-v1.ts';
import { isNotFound } from '#client/api-error.ts';
import { referenceTo } from '#client/event-recorder.ts';
import type { Informer } from '#client/informer-port.ts';
import { timestamp } from '#client/timestamps.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { type Controller, NoScale, planBudget } from './plan.ts';

interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number | undefined } | undefined;
}

/** Keeps what every budget allows true: evictions ask for it. */
export async function runDisruptionController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const budgets = await syncedInformer(context, budgetKind, signal);
  const pods = await syncedInformer(context, podKind, signal);
  const workloads = new Map<string, Informer<Workload>>();
  for (const kind of [deploymentKind, replicaSetKind, statefulSetKind, replicationControllerKind] as readonly KindRef<Workload>[]) {
    workloads.set(kind.kind, await syncedInformer(context, kind, signal));
  }
  const queue = new WorkQueue({ ...context, workers: 2 });
  const addMatching = (namespace: string | undefined, isMeant: (selector: LabelSelector | undefined) => boolean) => {
    for (const { metadata, spec } of budgets.list()) if (metadata.namespace === namespace && isMeant(spec?.selector)) queue.add(objectKey(metadata));
  };
  budgets.subscribe(({ type, object }) => {
    if (type !== 'deleted') queue.add(objectKey(object.metadata));
  });
  pods.subscribe((change) => {
    const labels = [change.object, ...(change.type === 'updated' ? [change.previous] : [])].map(({ metadata }) => metadata.labels);
    addMatching(change.object.metadata.namespace, (selector) => labels.some((each) => labelSelectorCovers(selector, each)));
  });
  for (const informer of workloads.values()) informer.subscribe(({ object }) => addMatching(object.metadata.namespace, () => true));
  await queue.run(async (key, inner) => {
    const budget = budgets.get(key);
    if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return;
    const { namespace } = budget.metadata;
    const matching = pods
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace && labelSelectorCovers(budget.spec?.selector, metadata.labels));
    const nowMs = context.clock.now();
    const controllerOf = (pod: Pod) => topController(workloads, pod);
    const plan = planBudget(budget, { pods: matching, controllerOf, nowMs, now: timestamp(nowMs) });
    for (const event of plan.events) context.events.emit(referenceTo(budget), event);
    if (plan.againInMs !== undefined) queue.addAfter(key, plan.againInMs);
    if (plan.budget === budget) return;
    try {
      await context.client.updateStatus(budgetKind, plan.budget, inner);
    } catch (error) {
      if (!isNotFound(error)) throw error; // a conflict too: an eviction was faster, the next look counts it
    }
  }, signal);
}

/** The one that decides how many there are: of a Deployment's ReplicaSet it is the Deployment. */
function topController(workloads: ReadonlyMap<string, Informer<Workload>>, pod: Pod): Controller | undefined {
  let top: Workload | undefined;
  for (let object: KubeObject = pod; ; ) {
    const owner = (object.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
    if (owner === undefined) break;
    const { namespace } = pod.metadata;
    const found = workloads.get(owner.kind)?.get(objectKey({ namespace, name: owner.name }));
    if (found?.metadata.uid !== owner.uid) {
      if (top === undefined) throw new NoScale(`found no controllers for pod ${quote(pod.metadata.name)}`);
      break;
    }
    top = found;
    object = found;
  }
  return top === undefined ? undefined : { uid: top.metadata.uid, replicas: top.spec?.replicas ?? 1 };
}
