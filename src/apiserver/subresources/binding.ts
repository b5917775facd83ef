import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import type { KubeObject } from '#api/object.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { badRequest, conflict, created, invalid } from '#api/status.ts';
import type { Binding, Node, Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, decodeBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { checkNamespace } from '../verbs/place.ts';
import { updateObject } from '../verbs/update-object.ts';
import { withCondition } from './pod-condition.ts';

const bodyKind: BodyKind = {
  group: '',
  version: 'v1',
  kind: 'Binding',
  get schema() {
    return schemaOf('core.v1.Binding');
  },
};

/** POST `pods/binding`: gives a pod its node, once. */
export async function bindPod(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const options = writeOptionsOf(request.query, 'CreateOptions');
  const writer = writerOf(request, options);
  const decoded = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', bodyKind, options, writer.warn);
  const binding = decoded as Binding; // the schema has read it
  checkNamespace(kind, binding, info.namespace, 'create');
  if (binding.metadata.name !== info.name) throw badRequest('name in URL does not match name in Binding object');
  checkTarget(binding);
  const placed = withTopology(binding, context.objects.get(nodeKind, '', binding.target.name ?? ''));
  const change = (current: KubeObject) => bound(current as Pod, placed, context.clock); // the index of pods has pods
  const { namespace, name, subresource } = info;
  await updateObject(context, { kind, namespace, name, subresource, writer, change }, signal);
  return answerObject(201, created(), format, writer.warnings);
}

function checkTarget({ metadata, target }: Binding): void {
  const kind = target?.kind ?? '';
  if (kind !== '' && kind !== 'Node') {
    const problem = { type: 'NotSupported', field: 'target.kind', badValue: kind, detail: 'supported values: "Node", "<empty>"' } as const;
    throw invalid(bodyKind, metadata.name, [problem]);
  }
  if ((target?.name ?? '') === '') throw invalid(bodyKind, metadata.name, [{ type: 'Required', field: 'target.name', detail: '' }]);
}

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** The pod is told where its node is: upstream's plugin PodTopologyLabels. */
function withTopology(binding: Binding, node: Node | undefined): Binding {
  const place = Object.entries(node?.metadata.labels ?? {}).filter(([label]) => topologyLabels.includes(label));
  if (place.length === 0) return binding;
  return { ...binding, metadata: { ...binding.metadata, labels: { ...binding.metadata.labels, ...Object.fromEntries(place) } } };
}

/** Pure. @throws a 409 `StatusError` when the pod cannot be given a node */
export function bound(pod: Pod, binding: Binding, clock: Clock): Pod {
  const { name } = pod.metadata;
  const refuse = (detail: string) => conflict({ group: '', plural: 'pods/binding' }, name, detail);
  const nodeName = pod.spec?.nodeName ?? '';
  if (pod.metadata.deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (nodeName !== '') throw refuse(`pod ${name} is already assigned to node "${nodeName}"`);
  if ((pod.spec?.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const { annotations, labels, uid, resourceVersion = '' } = binding.metadata;
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const metadata = {
    ...pod.metadata,
    resourceVersion, // '' is any
    ...(uid === undefined ? {} : { uid }), // another one is refused as every update is
    ...(annotations === undefined ? {} : { annotations: { ...pod.metadata.annotations, ...annotations } }),
    ...(labels === undefined ? {} : { labels: { ...pod.metadata.labels, ...labels } }),
  };
  const assigned: Pod = { ...pod, metadata, spec: { ...(pod.spec ?? { containers: [] }), nodeName: binding.target.name ?? '' }, status };
  return withCondition(assigned, { type: 'PodScheduled', status: 'True' }, clock);
}
