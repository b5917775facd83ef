import { resolve } from 'node:path';
import { type OptionValues, stringOption } from './command.ts';
import type { ClusterChoice } from './context.ts';

/** The cluster that `--name` and `--data-dir` speak of. */
export function clusterOf(options: OptionValues): ClusterChoice {
  const dataDir = stringOption(options, 'data-dir');
  return { name: stringOption(options, 'name') ?? 'default', dataDir: dataDir === undefined ? undefined : resolve(dataDir) };
}
