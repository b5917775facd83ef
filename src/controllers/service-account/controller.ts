import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { DEFAULT_SERVICE_ACCOUNT, needsServiceAccount } from './plan.ts';

/** Keeps a service account `default` in every namespace. */
export async function runServiceAccountController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const namespaces = await syncedInformer(context, namespaceKind, signal);
  const accounts = await syncedInformer(context, serviceAccountKind, signal);
  const queue = new WorkQueue({ ...context, workers: 4 });
  namespaces.subscribe(({ object }) => queue.add(object.metadata.name));
  accounts.subscribe(({ type, object }) => {
    if (type === 'deleted' && object.metadata.name === DEFAULT_SERVICE_ACCOUNT) queue.add(object.metadata.namespace ?? '');
  });
  await queue.run(async (namespace, inner) => {
    if (!needsServiceAccount(namespaces.get(namespace)) || accounts.get(`${namespace}/${DEFAULT_SERVICE_ACCOUNT}`) !== undefined) return;
    try {
      await context.client.create(serviceAccountKind, { metadata: { namespace, name: DEFAULT_SERVICE_ACCOUNT } }, inner);
    } catch (error) {
      // There already, or the namespace is on its way out.
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error)) throw error;
    }
  }, signal);
}
