import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { failure, forbidden, notFound } from '#api/status.ts';
import type { ObjectReader } from '../request/route.ts';
import { type AdmissionPlugin, type AdmissionRequest, shownName } from './admission.ts';

/** Namespaces that the system cannot be without. */
export const systemNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Nothing is created where there is no namespace, or in one that is going away. */
export function createNamespaceLifecycle(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate: (request) => {
      check(request, objects);
      return request.object;
    },
  };
}

function check(request: AdmissionRequest, objects: ObjectReader): void {
  const { kind, operation, namespace } = request;
  if (kind.group === '' && kind.kind === 'Namespace') {
    if (operation === 'DELETE' && systemNamespaces.includes(request.name)) {
      throw forbidden(kind, request.name, 'this namespace may not be deleted');
    }
    return;
  }
  if (namespace === '' || operation !== 'CREATE') return;
  const found = objects.get(namespaceKind, '', namespace);
  if (found === undefined) throw notFound(namespaceKind, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const refusal = forbidden(kind, shownName(request), `unable to create new content in namespace ${namespace} because it is being terminated`);
  throw failure(403, 'Forbidden', refusal.status.message ?? '', {
    ...refusal.status.details,
    causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }],
  });
}
