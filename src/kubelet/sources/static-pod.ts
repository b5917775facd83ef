import { createHash } from 'node:crypto';
import { problemsText } from '#api/field-problem.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { firstReference } from '#api/pod/references.ts';
import { decodeJson, type JsonObject } from '#api/schema/decode-json.ts';
import type { Pod, Toleration } from '#api/types/core-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import { staticAnnotation } from './static-annotations.ts';

/** Where a manifest comes from. */
export interface ManifestOrigin {
  readonly kind: 'file' | 'http';
  /** The file's path, or the URL. */
  readonly path: string;
  readonly nodeName: string;
}

/**
 * The pod of a manifest as this node runs it: defaulted, with a uid that any change of its content changes, and the node's name in its own.
 *
 * @throws {InvalidInput} when it is no pod, breaks a rule, or names objects of the API
 */
export function staticPod(manifest: unknown, origin: ManifestOrigin): Pod {
  const decoded = podKind.setDefaults(decodedPod(manifest));
  const pod = withIdentity(decoded, origin);
  const problems = podKind.validate(pod);
  if (problems.length > 0) throw new InvalidInput({ message: `invalid pod: ${problemsText(problems)}` });
  const reference = firstReference(pod);
  if (reference !== undefined) throw new InvalidInput({ message: `static pods may not reference ${reference}` });
  return pod;
}

/** The pods of a `Pod` or of a `PodList`. @throws {InvalidInput} */
export function staticPods(manifest: unknown, origin: ManifestOrigin): readonly Pod[] {
  if (!isObject(manifest) || manifest['kind'] !== 'PodList') return [staticPod(manifest, origin)];
  const items = Array.isArray(manifest['items']) ? (manifest['items'] as readonly unknown[]) : [];
  return items.map((item) => staticPod(isObject(item) ? { apiVersion: 'v1', kind: 'Pod', ...item } : item, origin));
}

function decodedPod(manifest: unknown): Pod {
  if (!isObject(manifest)) throw new InvalidInput({ message: 'the manifest is no object' });
  const { apiVersion, kind } = manifest;
  if (apiVersion !== 'v1' || kind !== 'Pod')
    throw new InvalidInput({ message: `no Pod in version "v1" but ${String(kind)} in version ${String(apiVersion)}` });
  const { object } = decodeJson(podKind.schema, manifest);
  return { ...object, apiVersion: 'v1', kind: 'Pod' } as unknown as Pod; // the schema has read it
}

function withIdentity(pod: Pod, { kind, path, nodeName }: ManifestOrigin): Pod {
  const { name, namespace, uid: given, annotations } = pod.metadata;
  if ((name ?? '') === '') throw new InvalidInput({ message: 'the pod has no name' });
  const hash = createHash('md5').update(canonical(pod)); // no secret: upstream's choice, whose length others may rely on
  const uid = given || hash.update(kind === 'file' ? `host:${nodeName}file:${path}` : `url:${path}`).digest('hex');
  const spec = { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid,
      name: `${name}-${nodeName.toLowerCase()}`,
      namespace: namespace || 'default',
      resourceVersion: '',
      creationTimestamp: '',
      annotations: { ...annotations, [staticAnnotation.hash]: uid, [staticAnnotation.source]: kind },
    },
    spec: kind === 'file' ? { ...spec, tolerations: tolerant(spec.tolerations ?? []) } : spec,
    status: { phase: 'Pending' },
  };
}

/** A pod of a file stays whatever the node's taints. */
function tolerant(tolerations: readonly Toleration[]): readonly Toleration[] {
  const has = tolerations.some(({ key, operator, effect }) => (key ?? '') === '' && operator === 'Exists' && effect === 'NoExecute');
  return has ? tolerations : [...tolerations, { operator: 'Exists', effect: 'NoExecute' }];
}

/** The same text for the same content, in whatever order its fields were written. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
    .join(',')}}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
