import { configMapPayload, configMapRef } from '../payload/named-objects.ts';
import type { VolumePlugin } from '../volume-plugin.ts';
import { contentPlugin } from './content-plugin.ts';
import { DEFAULT_FILE_MODE } from './default-mode.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

export function configMapPlugin(dependencies: PluginDependencies): VolumePlugin {
  return contentPlugin(
    {
      name: 'kubernetes.io~configmap',
      inMemory: false,
      supports: ({ configMap }) => configMap !== undefined,
      refs: ({ configMap }, namespace) => [configMapRef(namespace, configMap?.name ?? '')],
      readsPod: () => false,
      async content({ configMap: wish }, { metadata }, signal) {
        const selection = { items: wish?.items, defaultMode: wish?.defaultMode ?? DEFAULT_FILE_MODE, optional: wish?.optional === true };
        return { payload: await configMapPayload(dependencies.objects, metadata.namespace, wish?.name ?? '', selection, signal) };
      },
    },
    dependencies,
  );
}
