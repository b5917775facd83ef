import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { badRequest, conflict, created, notFound, StatusError } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Eviction, PodDisruptionBudget } from '#api/types/policy-v1.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, decodeParsed, parseBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { type RequestWriter, writerOf } from '../request/writer.ts';
import { deleteObject } from '../verbs/delete-object.ts';
import { checked, type DeleteRequestOptions } from '../verbs/delete-options.ts';
import { nowSeconds } from '../verbs/times.ts';
import { updateObject } from '../verbs/update-object.ts';
import { planEviction, stillProcessing, withDisruption } from './disruption-budgets.ts';
import { withCondition } from './pod-condition.ts';

const bodyKind: BodyKind = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  get schema() {
    return schemaOf('policy.v1.Eviction');
  },
};
const budgets: KindRef<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
};

/** Upstream's number of tries of a pod that changes all the time. */
const maxTries = 20;
const retryAfterMs = 500;

/** One request to evict one pod. */
interface EvictionRequest {
  readonly kind: KindRequest['kind'];
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteRequestOptions;
  readonly writer: RequestWriter;
}

/** POST `pods/eviction`: marks the pod as disrupted and deletes it, unless a disruption budget says no. */
export async function evictPod(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const { namespace, name, subresource } = info;
  const format = negotiate(request.headers, request.query);
  const asked = writeOptionsOf(request.query, 'CreateOptions');
  const writer = writerOf(request, asked);
  const eviction = decodeEviction(await request.body(signal), request, asked, writer);
  if ((eviction.metadata?.name ?? '') !== name) throw badRequest('name in URL does not match name in Eviction object');
  const given = checked(eviction.deleteOptions ?? {});
  if (given.isDryRun && !asked.isDryRun && request.query.has('dryRun')) throw badRequest('Non-matching dry-run options in request and content');
  const options = { ...given, isDryRun: given.isDryRun || asked.isDryRun };
  const pod = podOf(context, kind, namespace, name);
  const { user, warn } = writer;
  const admission = { operation: 'CREATE', kind, subresource, namespace, name, object: pod, previous: undefined, body: eviction } as const;
  const admitted = { ...admission, user, isDryRun: options.isDryRun, warn };
  await context.admission.mutate(admitted, signal); // only for its refusals: the pod is changed by its deletion
  await context.admission.validate(admitted, signal);
  const refused = await evict(context, { kind, namespace, name, options, writer: { ...writer, isDryRun: options.isDryRun } }, signal);
  return answerObject(201, refused ?? created(), format, writer.warnings);
}

function decodeEviction(body: Uint8Array, { headers }: KindRequest, options: ReturnType<typeof writeOptionsOf>, writer: RequestWriter): Eviction {
  const parsed = parseBody(body, headers['content-type'] ?? '', bodyKind);
  const { value } = parsed;
  const isOld = typeof value === 'object' && value !== null && 'apiVersion' in value && value.apiVersion === 'policy/v1beta1';
  const decoded: unknown = decodeParsed(parsed, { ...bodyKind, version: isOld ? 'v1beta1' : 'v1' }, options, writer.warn);
  return decoded as Eviction; // the schema has read it
}

/** @returns what the answer says when nobody can decide; undefined when it is done */
async function evict(context: ServerContext, request: EvictionRequest, signal: AbortSignal): Promise<unknown> {
  const { kind, namespace, name, options } = request;
  for (let left = maxTries; ; left--) {
    const pod = podOf(context, kind, namespace, name);
    const plan = planEviction(pod, context.objects.list(budgets));
    if (plan.kind === 'undecided') return moreThanOneBudget;
    if (plan.kind === 'take') await take(context, request, plan.budget, signal);
    const isExactly = plan.kind === 'evict' && plan.isExactly && options.resourceVersion === undefined;
    try {
      await disruptAndDelete(context, request, isExactly ? pod.metadata.resourceVersion : options.resourceVersion, signal);
      return undefined;
    } catch (error) {
      if (!isExactly || !(error instanceof StatusError) || error.status.code !== 409) throw error;
      if (pod.status?.phase !== 'Pending') throw stillProcessing(budgetNameFor(context, pod));
      if (left <= 1) throw error;
      await context.clock.sleep(retryAfterMs, signal);
    }
  }
}

/** Takes one disruption from the budget; again while its controller writes. @throws a 429 `StatusError` when it has none to give */
async function take(context: ServerContext, { name, writer }: EvictionRequest, budget: PodDisruptionBudget, signal: AbortSignal): Promise<void> {
  const kind = context.registry.index(budgets).storage.kind;
  const { name: budgetName, namespace } = budget.metadata;
  const change = (current: KubeObject) => {
    const next = withDisruption(current as PodDisruptionBudget, name, nowSeconds(context.clock)); // the index of budgets has budgets
    return { ...next, metadata: { ...next.metadata, resourceVersion: '' } }; // any state that allows it
  };
  await updateObject(context, { kind, namespace, name: budgetName, subresource: 'status', writer, change }, signal);
}

/** @param resourceVersion of the pod that may go; undefined: any */
async function disruptAndDelete(
  context: ServerContext,
  request: EvictionRequest,
  resourceVersion: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { kind, namespace, name, options, writer } = request;
  let exactly = resourceVersion;
  if (!options.isDryRun) {
    const change = (current: KubeObject) => disrupted(checkedPod(current as Pod, options.uid, resourceVersion), context); // the index of pods has pods
    const marked = await updateObject(context, { kind, namespace, name, subresource: 'eviction', writer, change }, signal);
    if (resourceVersion !== undefined) exactly = String(marked.revision);
  }
  await deleteObject(context, { kind, namespace, name, options: { ...options, resourceVersion: exactly }, writer }, signal);
}

function checkedPod(pod: Pod, uid: string | undefined, resourceVersion: string | undefined): Pod {
  const { name, uid: actualUid, resourceVersion: actual } = pod.metadata;
  const refuse = (detail: string) => conflict({ group: '', plural: 'Pod' }, name, detail); // upstream's word
  if (uid !== undefined && uid !== actualUid) {
    const both = `the UID in the precondition (${uid}) does not match the UID in record (${actualUid})`;
    throw refuse(`${both}. The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== actual) {
    const both = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${actual})`;
    throw refuse(`${both}. The object might have been modified`);
  }
  return pod;
}

function disrupted(pod: Pod, context: ServerContext): Pod {
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
  const unnamed = { ...pod, metadata: { ...pod.metadata, resourceVersion: '' } }; // checked already, as far as anybody cares
  return withCondition(unnamed, condition, context.clock);
}

function podOf(context: ServerContext, kind: KindRequest['kind'], namespace: string, name: string): Pod {
  const pod = context.objects.get(kind, namespace, name);
  if (pod === undefined) throw notFound(kind, name);
  return pod as Pod; // the index of pods has pods
}

function budgetNameFor(context: ServerContext, pod: Pod): string {
  const plan = planEviction({ ...pod, status: { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] } }, context.objects.list(budgets));
  return plan.kind === 'take' ? plan.budget.metadata.name : '';
}

/** A failure under the HTTP status of success, as upstream answers. */
const moreThanOneBudget = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  code: 500,
};
