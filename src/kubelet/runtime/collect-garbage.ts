import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { PodSandboxState } from '#wire/generated/cri.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { ContainerRecord, PodRuntimeState } from './pod-runtime-state.ts';
import { podOf } from './pod-runtime-state.ts';
import type { RuntimeCache } from './runtime-cache.ts';

export interface GarbageDeps {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly files: FilesPort;
  readonly logger: Logger;
  /** Dead containers that are kept of each name. */
  readonly keepDead: number;
}

/** Dead containers beyond those that people may still want the logs of; pure. */
export function planGarbage(state: PodRuntimeState, keepDead: number): readonly ContainerRecord[] {
  const kept = new Map<string, number>();
  return state.containers.filter(({ name, phase }) => {
    if (phase !== 'exited') return false;
    const already = kept.get(name) ?? 0;
    kept.set(name, already + 1);
    return already >= keepDead;
  });
}

/** Removes dead containers and sandboxes of pods that go on; what belongs to pods that are gone goes with them. */
export async function collectGarbage(deps: GarbageDeps, signal: AbortSignal): Promise<void> {
  const { runtime, cache, files, logger, keepDead } = deps;
  const remove = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error;
      logger.warn('a dead container or sandbox cannot be removed', { what, code: error.code, error: messageOf(error) }); // the next round tries again
    }
  };
  for (const state of cache.all()) {
    for (const { id, name, logPath } of planGarbage(state, keepDead)) {
      await remove(name, async () => {
        await removeLogs(logPath, files, signal);
        await runtime.removeContainer(id, signal);
        await cache.refreshContainer(id, signal);
      });
    }
  }
  const containers = await runtime.listContainers({}, signal);
  const used = new Set(containers.map(({ podSandboxId }) => podSandboxId));
  const newest = new Set(cache.all().flatMap(({ sandboxes }) => sandboxes[0]?.id ?? []));
  for (const { id, state, labels } of await runtime.listPodSandboxes({}, signal)) {
    if (state === PodSandboxState.SANDBOX_READY || used.has(id) || newest.has(id) || podOf(labels) === undefined) continue;
    await remove(id, async () => {
      await runtime.stopPodSandbox(id, signal);
      await runtime.removePodSandbox(id, signal);
      await cache.refreshSandbox(id, signal);
    });
  }
}

/** The log and what was rotated away from it: `0.log`, `0.log.20261202-040000.gz`. */
async function removeLogs(logPath: string, files: FilesPort, signal: AbortSignal): Promise<void> {
  const slash = logPath.lastIndexOf('/');
  if (slash <= 0) return;
  const directory = logPath.slice(0, slash);
  const name = logPath.slice(slash + 1);
  for (const entry of await files.list(directory, signal)) {
    if (entry.name.startsWith(name)) await files.removeTree(`${directory}/${entry.name}`, signal);
  }
}
