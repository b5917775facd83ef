import { AppError } from '#base/errors.ts';
import type { ClusterPaths } from '../cluster-paths.ts';
import type { PartName } from '../find-clusters.ts';
import { logFile } from '../parts.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { PartStatus } from '../supervisor/part.ts';
import { followParts } from '../supervisor/supervisor-client.ts';

/** A part ends again and again. */
export class PartFailed extends AppError {
  readonly code = 'PART_FAILED';
  readonly retry = 'never';
}

/** One failure may be bad luck. */
const patience = 3;

/** @throws {PartFailed} when one of them ends, or cannot be started, for the third time; with the end of its log */
export async function waitForParts(
  wanted: readonly PartName[],
  paths: ClusterPaths,
  progress: (message: string) => void,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  const told = new Set<string>();
  const failures = new Failures();
  for await (const parts of followParts(host.sockets, paths.supervisorSocket, signal)) {
    const states = wanted.map((name) => parts.find((part) => part.name === name));
    for (const state of states) {
      if (state === undefined) continue;
      if (state.phase === 'ready' && !told.has(state.name)) {
        told.add(state.name);
        progress(`${state.name} is ready`);
      }
      if (failures.areEnough(state)) throw await failureOf(state, paths, host);
    }
    if (states.every((state) => state?.phase === 'ready')) return;
  }
}

/** Never resolves. @throws {PartFailed} as `waitForParts` does; what the signal was aborted with */
export async function untilPartFails(name: PartName, paths: ClusterPaths, host: ClusterHost, signal: AbortSignal): Promise<never> {
  const failures = new Failures();
  for await (const parts of followParts(host.sockets, paths.supervisorSocket, signal)) {
    const state = parts.find((part) => part.name === name);
    if (state !== undefined && failures.areEnough(state)) throw await failureOf(state, paths, host);
  }
  throw new Error('the stream of part states never ends by itself');
}

/** Counts from the first look: what a part went through in its earlier life does not speak against it. */
class Failures {
  readonly #before = new Map<string, number>();

  areEnough({ name, restarts, problem }: PartStatus): boolean {
    const before = this.#before.get(name) ?? restarts;
    this.#before.set(name, before);
    return restarts - before >= patience || problem !== undefined;
  }
}

async function failureOf(state: PartStatus, paths: ClusterPaths, host: ClusterHost): Promise<PartFailed> {
  const file = logFile(paths, state.name as PartName);
  const tail = ((await host.files.readText(file)) ?? '').trim().split('\n').slice(-3).join(' | ');
  const what = state.problem ?? `it ended again and again, last with ${state.lastEnd}`;
  return new PartFailed({
    message: `${state.name} does not start: ${what}${tail === '' ? '' : `; its log ends with: ${tail}`}`,
    hint: `see ${file}`,
  });
}
