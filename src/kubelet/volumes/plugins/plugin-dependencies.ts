import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { MounterPort } from '../../ports/mounter.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import type { TokensPort } from '../../ports/tokens.ts';
import type { VolumeRoots } from '../volume-paths.ts';

export interface PluginDependencies {
  readonly files: FilesPort;
  readonly mounter: MounterPort;
  readonly objects: ObjectsPort;
  readonly tokens: TokensPort;
  readonly roots: VolumeRoots;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1. */
  readonly random: () => number;
  /** `status.allocatable` of the node, as it is now. */
  readonly allocatable: () => Readonly<Record<string, string>>;
}
