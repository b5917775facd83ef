import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { badRequest } from '#api/status.ts';

/** The body must not name another namespace than the URL. @throws a 400 `StatusError` */
export function checkNamespace(kind: Kind, object: KubeObject, namespace: string, verb: 'create' | 'update'): void {
  const given = object.metadata.namespace ?? '';
  if (kind.scope === 'Cluster' || given === '' || given === namespace) return;
  throw badRequest(
    verb === 'create'
      ? 'the namespace of the provided object does not match the namespace sent on the request'
      : `the namespace of the object (${given}) does not match the namespace on the request (${namespace})`,
  );
}

/** The body must name the object of the URL. @throws a 400 `StatusError` */
export function checkName(object: KubeObject, name: string): void {
  const given = object.metadata.name ?? '';
  if (given === name) return;
  throw badRequest(
    given === ''
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${given}) does not match the name on the URL (${name})`,
  );
}

/** The object where the URL says that it is. */
export function placed(kind: Kind, object: KubeObject, namespace: string): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata: kind.scope === 'Namespaced' ? { ...metadata, namespace } : metadata };
}

/** A patch that leaves the revision alone does not name a state: then a write in between is no conflict. */
export function withoutSameRevision(patched: KubeObject, current: KubeObject): KubeObject {
  if (patched.metadata.resourceVersion !== current.metadata.resourceVersion) return patched;
  return { ...patched, metadata: { ...patched.metadata, resourceVersion: '' } };
}
