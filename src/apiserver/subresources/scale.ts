import { ageColumn, column, nameColumn } from '#api/column.ts';
import { apiVersionOf, defineKind, type Kind, type ScaleView } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { conflict, invalid, notFound } from '#api/status.ts';
import type { Scale } from '#api/types/autoscaling-v1.ts';
import { type IndexedObject, StoredObject } from '../registry/indexed-object.ts';
import { KindStorage } from '../registry/kind-storage.ts';
import type { KindHandler, KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { resourceVersionOf, writeOptionsOf } from '../request/query-options.ts';
import type { Verb } from '../request/request-info.ts';
import type { ApiResponse } from '../request/route.ts';
import { type RequestWriter, writerOf } from '../request/writer.ts';
import { applyObject, checkApplicable, readApplication } from '../verbs/apply.ts';
import { answerEntry } from '../verbs/get.ts';
import { isApplication, readPatch } from '../verbs/patch.ts';
import { checkName, checkNamespace, withoutSameRevision } from '../verbs/place.ts';
import { waitForRevision } from '../verbs/revision-wait.ts';
import { updateObject } from '../verbs/update-object.ts';

/** What is read and written instead of the object itself. It is never stored. */
const scaleKind = defineKind<Scale>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  scope: 'Namespaced',
  message: 'autoscaling.v1.Scale',
  columns: [
    nameColumn,
    column('Desired', { type: 'integer', description: 'Number of pods that are wanted.', cell: ({ spec }) => spec?.replicas ?? 0 }),
    column('Available', { type: 'integer', description: 'Number of pods that there are.', cell: ({ status }) => status?.replicas ?? 0 }),
    ageColumn,
  ],
});
const scales = new KindStorage(scaleKind);

/** `/scale` of every kind that has one. */
export const scaleHandlers: Readonly<Partial<Record<Verb, KindHandler>>> = { get: getScale, update: updateScale, patch: patchScale };

async function getScale(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info, query } = request;
  await waitForRevision(context, resourceVersionOf(query), signal);
  const index = context.registry.index(kind);
  const entry = index.get(index.storage.keyOf(info.namespace, info.name));
  if (entry === undefined) throw notFound(kind, info.name);
  return answerScale(context, request, entry);
}

async function updateScale(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const options = writeOptionsOf(request.query, 'UpdateOptions');
  const writer = writerOf(request, options);
  const decoded = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', scaleKind, options, writer.warn);
  return change(context, request, writer, () => decoded, signal);
}

async function patchScale(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  if (isApplication(request)) return applyScale(context, request, signal);
  const { writer, patched } = await readPatch(request, scaleKind, signal);
  return change(context, request, writer, (scale) => withoutSameRevision(patched(scale), scale), signal);
}

async function change(
  context: ServerContext,
  request: KindRequest,
  writer: RequestWriter,
  wanted: (scale: Scale) => KubeObject,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { kind, info } = request;
  const { namespace, name, subresource } = info;
  const view = viewOf(kind);
  const scaled = (current: KubeObject): KubeObject => {
    const scale = wanted(scaleOf(kind, current)) as Scale; // the schema has read it
    checkNamespace(kind, scale, namespace, 'update');
    checkName(scale, name);
    checkReplicas(scale, name);
    checkUid(kind, scale, current);
    const next = view.write(current, scale.spec?.replicas ?? 0);
    return { ...next, metadata: { ...next.metadata, resourceVersion: scale.metadata.resourceVersion ?? '' } };
  };
  const entry = await updateObject(context, { kind, namespace, name, subresource, writer, change: scaled }, signal);
  return answerScale(context, request, entry, writer.warnings);
}

/** Who applies a scale applies that part of the object: its fields are those of the object. */
async function applyScale(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const application = await readApplication(request, signal);
  checkApplicable(scaleKind, application.applied);
  const scale = application.applied as unknown as Scale; // it is all of the kind
  checkReplicas(scale, info.name);
  const { metadata = {}, spec = {} } = application.applied;
  const applied = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec };
  const { entry } = await applyObject(context, request, { ...application, applied }, signal);
  return answerScale(context, request, entry, application.writer.warnings);
}

function answerScale(context: ServerContext, request: KindRequest, entry: IndexedObject, warnings: readonly string[] = []): ApiResponse {
  const format = negotiate(request.headers, request.query);
  const { key, revision } = entry;
  const scale = StoredObject.fromBytes(scales, key, scales.encode(scaleOf(request.kind, entry.object())), revision);
  return answerEntry(200, scale, { ...request, kind: scaleKind }, format, context, warnings);
}

function scaleOf(kind: Kind, object: KubeObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const { specReplicas, statusReplicas, selector } = viewOf(kind).read(object);
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace: namespace ?? '', uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector === '' ? {} : { selector }) },
  };
}

function viewOf(kind: Kind): ScaleView<KubeObject> {
  if (kind.scale === undefined) throw new Error(`${kind.kind} has a scale, but does not say how it looks`);
  return kind.scale;
}

function checkReplicas({ spec }: Scale, name: string): void {
  const replicas = spec?.replicas ?? 0;
  if (replicas >= 0) return;
  const problem = { type: 'Invalid', field: 'spec.replicas', badValue: replicas, detail: 'must be greater than or equal to 0' } as const;
  throw invalid(scaleKind, name, [problem]);
}

function checkUid(kind: Kind, scale: Scale, current: KubeObject): void {
  const { uid = '' } = scale.metadata;
  if (uid === '' || uid === current.metadata.uid) return;
  const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`;
  throw conflict({ group: kind.group, plural: `${kind.plural}/scale` }, current.metadata.name, detail);
}
