import { downwardPayload } from '../payload/downward.ts';
import type { VolumePlugin } from '../volume-plugin.ts';
import { contentPlugin } from './content-plugin.ts';
import { DEFAULT_FILE_MODE } from './default-mode.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';

export function downwardApiPlugin(dependencies: PluginDependencies): VolumePlugin {
  return contentPlugin(
    {
      name: 'kubernetes.io~downward-api',
      inMemory: true,
      supports: ({ downwardAPI }) => downwardAPI !== undefined,
      refs: () => [],
      readsPod: () => true,
      content: async ({ downwardAPI: wish }, pod) => ({
        payload: downwardPayload(wish?.items ?? [], pod, dependencies.allocatable(), wish?.defaultMode ?? DEFAULT_FILE_MODE),
      }),
    },
    dependencies,
  );
}
