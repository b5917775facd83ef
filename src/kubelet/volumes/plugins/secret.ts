import { secretPayload, secretRef } from '../payload/named-objects.ts';
import type { VolumePlugin } from '../volume-plugin.ts';
import { contentPlugin } from './content-plugin.ts';
import { DEFAULT_FILE_MODE } from './default-mode.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

export function secretPlugin(dependencies: PluginDependencies): VolumePlugin {
  return contentPlugin(
    {
      name: 'kubernetes.io~secret',
      inMemory: true,
      supports: ({ secret }) => secret !== undefined,
      refs: ({ secret }, namespace) => [secretRef(namespace, secret?.secretName ?? '')],
      readsPod: () => false,
      async content({ secret: wish }, { metadata }, signal) {
        const selection = { items: wish?.items, defaultMode: wish?.defaultMode ?? DEFAULT_FILE_MODE, optional: wish?.optional === true };
        return { payload: await secretPayload(dependencies.objects, metadata.namespace, wish?.secretName ?? '', selection, signal) };
      },
    },
    dependencies,
  );
}
