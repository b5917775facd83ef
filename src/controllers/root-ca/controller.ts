import { configMap as configMapKind } from '#api/kinds/core/v1/config-map.ts';
import { namespace as namespaceKind } from '#api/kinds/core/v1/namespace.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { planRootCa, ROOT_CA_CONFIG_MAP } from './plan.ts';

/** Keeps the ConfigMap `kube-root-ca.crt` in every namespace: pods check the API server's certificate against it. */
export async function runRootCaController(context: ControllerContext, rootCaPem: string, signal: AbortSignal): Promise<void> {
  const namespaces = await syncedInformer(context, namespaceKind, signal);
  const configMaps = await syncedInformer(context, configMapKind, signal);
  const queue = new WorkQueue({ ...context, workers: 4 });
  namespaces.subscribe(({ object }) => queue.add(object.metadata.name));
  configMaps.subscribe(({ object }) => {
    if (object.metadata.name === ROOT_CA_CONFIG_MAP) queue.add(object.metadata.namespace ?? '');
  });
  await queue.run(async (namespace, inner) => {
    const plan = planRootCa(namespaces.get(namespace), configMaps.get(`${namespace}/${ROOT_CA_CONFIG_MAP}`), rootCaPem);
    if (plan.kind === 'nothing') return;
    try {
      if (plan.kind === 'create') await context.client.create(configMapKind, plan.object, inner);
      else await context.client.update(configMapKind, plan.object, inner);
    } catch (error) {
      // There already, or the namespace is on its way out.
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error)) throw error;
    }
  }, signal);
}
