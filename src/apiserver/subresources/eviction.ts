import type { KubeObject } from '#api/object.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { badRequest, created } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { Eviction } from '#api/types/policy-v1.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, decodeBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { deleteObject } from '../verbs/delete-object.ts';
import { checked } from '../verbs/delete-options.ts';
import { updateObject } from '../verbs/update-object.ts';
import { withCondition } from './pod-condition.ts';

const bodyKind: BodyKind = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  get schema() {
    return schemaOf('policy.v1.Eviction');
  },
};

/** POST `pods/eviction`: marks the pod as disrupted and deletes it. Disruption budgets will be asked here when the kind exists. */
export async function evictPod(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const { namespace, name, subresource } = info;
  const format = negotiate(request.headers, request.query);
  const asked = writeOptionsOf(request.query, 'CreateOptions');
  const body = await request.body(signal);
  const contentType = request.headers['content-type'] ?? '';
  const warnings: string[] = [];
  const decoded: unknown = decodeBody(body, contentType, bodyKind, asked, (text) => warnings.push(text));
  const eviction = decoded as Eviction; // the schema has read it
  if ((eviction.metadata?.name ?? name) !== name) throw badRequest('name in URL does not match name in Eviction object');
  const given = checked(eviction.deleteOptions ?? {});
  const options = { ...given, isDryRun: given.isDryRun || asked.isDryRun };
  const writer = writerOf(request, options);
  const change = (current: KubeObject) => disrupted(current as Pod, context); // the index of pods has pods
  await updateObject(context, { kind, namespace, name, subresource, writer, change }, signal);
  await deleteObject(context, { kind, namespace, name, options, writer }, signal);
  return answerObject(201, created(), format, [...warnings, ...writer.warnings]);
}

function disrupted(pod: Pod, context: ServerContext): Pod {
  const unnamed = { ...pod, metadata: { ...pod.metadata, resourceVersion: '' } }; // any state will do
  if (pod.metadata.deletionTimestamp !== undefined) return unnamed;
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
  return withCondition(unnamed, condition, context.clock);
}
