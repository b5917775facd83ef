import type { VolumePlugin } from '../volume-plugin.ts';
import { configMapPlugin } from './config-map.ts';
import { downwardApiPlugin } from './downward-api.ts';
import { emptyDirPlugin } from './empty-dir.ts';
import { hostPathPlugin } from './host-path.ts';
import type { PluginDependencies } from './plugin-dependencies.ts';
import { projectedPlugin } from './projected.ts';
import { secretPlugin } from './secret.ts';

/** Every type of volume that this kubelet has. A new one is a file and a line here. */
export function volumePlugins(dependencies: PluginDependencies): readonly VolumePlugin[] {
  return [emptyDirPlugin, configMapPlugin, secretPlugin, downwardApiPlugin, projectedPlugin, hostPathPlugin].map((plugin) => plugin(dependencies));
}
