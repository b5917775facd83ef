import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { StatusError } from '#api/status.ts';
import type { ServerContext } from '../request/context.ts';
import { authenticated, mastersGroup } from '../request/user.ts';
import { internalWriter } from '../request/writer.ts';
import { createObject } from '../verbs/create-object.ts';
import { updateObject } from '../verbs/update-object.ts';

export const serverWriter = internalWriter(authenticated({ name: 'system:apiserver', groups: [mastersGroup] }));

interface WantedObject<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly fields: Omit<T, 'metadata' | 'apiVersion' | 'kind'>;
}

/** Creates the object unless there is one. @returns whether it was created */
export async function ensureExists<T extends KubeObject>(context: ServerContext, wanted: WantedObject<T>, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, labels, finalizers, fields } = wanted;
  const kind = wanted.kind as unknown as Kind; // a kind takes its own objects only, and this is one
  const index = context.registry.index(kind);
  if (index.get(index.storage.keyOf(namespace, name)) !== undefined) return false;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const metadata = { name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(finalizers === undefined ? {} : { finalizers }) };
  const object = { apiVersion, kind: kind.kind, metadata, ...fields } as unknown as KubeObject; // the rest of its metadata is filled in
  try {
    await createObject(context, { kind, namespace, object, writer: serverWriter }, signal);
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 409) return false; // another server was faster
    throw error;
  }
}

/** Creates the object, or gives it these labels and fields again; what else it has stays. */
export async function ensureObject<T extends KubeObject>(context: ServerContext, wanted: WantedObject<T>, signal: AbortSignal): Promise<void> {
  if (await ensureExists(context, wanted, signal)) return;
  const { namespace, name, labels, fields } = wanted;
  const kind = wanted.kind as unknown as Kind; // as above
  const change = (current: KubeObject): KubeObject => ({
    ...current,
    ...fields,
    metadata: { ...current.metadata, labels: { ...current.metadata.labels, ...labels }, resourceVersion: '' },
  });
  await updateObject(context, { kind, namespace, name, subresource: '', writer: serverWriter, change }, signal);
}
