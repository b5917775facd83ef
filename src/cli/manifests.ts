import { parseAllDocuments } from 'yaml';
import { apiVersionOf, type KindRef } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import type { KubeObject } from '#api/object.ts';
import { InvalidInput } from '#base/errors.ts';
import { isAlreadyExists } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';

/** An object of a file, with its kind found. */
export interface Manifest {
  readonly kind: KindRef;
  readonly object: KubeObject;
}

/**
 * Reads a file of YAML or JSON documents; lists are taken apart.
 *
 * @param source names the text in errors
 * @throws {InvalidInput} that names the document and what is wrong with it
 */
export function parseManifests(text: string, source: string): readonly Manifest[] {
  const documents = parseAllDocuments(text);
  const manifests = [...documents].flatMap((document, index) => {
    const place = `${source}, document ${index + 1}`;
    const problem = document.errors[0];
    if (problem !== undefined) throw new InvalidInput({ message: `${place}: ${problem.message}`, hint: 'correct the YAML' });
    return objectsOf(document.toJS(), place);
  });
  if (manifests.length === 0) throw new InvalidInput({ message: `${source} has no object`, hint: 'give a file with at least one Kubernetes object' });
  return manifests;
}

function objectsOf(value: unknown, place: string): readonly Manifest[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) throw new InvalidInput({ message: `${place} is not an object` });
  const { apiVersion, kind, metadata, items } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new InvalidInput({ message: `${place} has no apiVersion or no kind` });
  if (kind === 'List' && Array.isArray(items)) return items.flatMap((item, index) => objectsOf(item, `${place}, item ${index + 1}`));
  const known = kinds.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  if (known === undefined) {
    throw new InvalidInput({ message: `${place}: no kind ${kind} in ${apiVersion}`, hint: 'see `kubectl api-resources` for what the server has' });
  }
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') throw new InvalidInput({ message: `${place}: metadata.name is missing` });
  const meta = known.scope === 'Namespaced' ? { namespace: 'default', ...metadata } : metadata;
  return [{ kind: known, object: { ...value, metadata: meta } as unknown as KubeObject }]; // apiVersion, kind and metadata.name were looked at
}

/** Creates the object, or changes the one that is there to match. */
export async function applyManifest(
  { kind, object }: Manifest,
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly object: KubeObject; readonly verb: string }> {
  try {
    return { object: await client.create(kind, object, signal), verb: 'created' };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const ref = { namespace: object.metadata.namespace, name: object.metadata.name };
  const before = await client.get(kind, ref, signal);
  const after = await client.patch(kind, ref, 'strategic', object, '', signal);
  return { object: after, verb: after.metadata.resourceVersion === before.metadata.resourceVersion ? 'unchanged' : 'configured' };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
