import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { type KillDeps, killContainer } from '../runtime/kill-container.ts';
import type { DeadContainer } from './plan-garbage.ts';

export interface RemoveDeps extends KillDeps {
  readonly files: FilesPort;
  readonly runtime: RuntimePort;
}

const unknownText = 'Container is in unknown state, try killing it before removal';
const leastGraceSeconds = 2;

/**
 * Removes a dead container: its logs first, because the runtime's record is what leads us to them. What fails ends it; the container is there
 * then, and the next round tries again.
 */
export async function removeContainer({ pod, container }: DeadContainer, deps: RemoveDeps, signal: AbortSignal): Promise<void> {
  const { files, runtime, cache } = deps;
  if (container.phase === 'unknown') {
    const graceSeconds = container.graceSeconds ?? leastGraceSeconds;
    await killContainer({ pod, spec: undefined, container, message: unknownText, graceSeconds }, deps, signal);
  }
  await removeLogs(container.logPath, files, signal);
  await runtime.removeContainer(container.id, signal);
  await cache.refreshContainer(container.id, signal);
}

/** The log and what was rotated away from it: `0.log`, `0.log.20261202-040000.gz`. */
async function removeLogs(logPath: string, files: FilesPort, signal: AbortSignal): Promise<void> {
  const slash = logPath.lastIndexOf('/');
  if (slash <= 0) return;
  const directory = logPath.slice(0, slash);
  const name = logPath.slice(slash + 1);
  for (const entry of await files.list(directory, signal)) {
    if (entry.name === name || entry.name.startsWith(`${name}.`)) await files.removeTree(`${directory}/${entry.name}`, signal);
  }
}
