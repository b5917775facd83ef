import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';

export interface LogRotationDeps {
  readonly runtime: Pick<RuntimePort, 'reopenContainerLog'>;
  readonly cache: RuntimeCache;
  readonly files: FilesPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: LogRotationSettings;
}

export interface LogRotationSettings {
  /** Negative: logs are not rotated. */
  readonly maxBytes: number;
  /** Of one container, the current one included; at least 2. */
  readonly maxFiles: number;
  /** Logs that are rotated at the same time. */
  readonly workers: number;
}

const logMode = 0o640;

/** Rotates the logs of running containers that have grown too big. */
export async function rotateLogs(deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  const { cache, settings, logger } = deps;
  if (settings.maxBytes < 0) return;
  const running = cache.all().flatMap(({ containers }) => containers.filter(({ phase, logPath }) => phase === 'running' && logPath !== ''));
  const worker = async () => {
    for (let next = running.pop(); next !== undefined; next = running.pop()) {
      const { id, name, logPath } = next;
      try {
        await rotate(id, logPath, deps, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof AppError)) throw error;
        const record = cache.recordOf(id);
        const runs = record !== undefined && 'phase' in record && record.phase === 'running'; // the log may have gone with its container
        if (runs) logger.warn('a log cannot be rotated', { container: name, log: logPath, code: error.code, error: messageOf(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: settings.workers }, worker));
}

async function rotate(containerId: string, logPath: string, deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  const { files, runtime, clock, settings } = deps;
  const facts = await files.stat(logPath, signal);
  if (facts === undefined) return runtime.reopenContainerLog(containerId, signal);
  if (facts.sizeBytes <= settings.maxBytes) return;
  const directory = logPath.slice(0, logPath.lastIndexOf('/'));
  const rotated = await tidy(directory, logPath.slice(directory.length + 1), settings.maxFiles, files, signal);
  const aside = `${logPath}.${stamp(clock.now())}`;
  if (rotated.includes(aside)) return; // twice in one second: the next round does it
  await files.rename(logPath, aside, signal);
  try {
    await runtime.reopenContainerLog(containerId, signal);
  } catch (error) {
    await files.rename(aside, logPath, signal); // the runtime still writes to it
    throw error;
  }
}

/** Makes room for one more rotated file, and compresses those that are there. @returns their paths without `.gz` */
async function tidy(directory: string, name: string, maxFiles: number, files: FilesPort, signal: AbortSignal): Promise<readonly string[]> {
  const all = (await files.list(directory, signal)).map((entry) => entry.name).filter((entry) => entry.startsWith(`${name}.`));
  const { kept, removed } = planTidying(all, maxFiles);
  for (const old of removed) await files.removeTree(`${directory}/${old}`, signal);
  for (const old of kept.filter((entry) => !entry.endsWith(packed))) {
    await files.compress(`${directory}/${old}`, `${directory}/${old}${packed}`, logMode, signal);
    await files.removeTree(`${directory}/${old}`, signal);
  }
  return kept.map((entry) => `${directory}/${entry.endsWith(packed) ? entry.slice(0, -packed.length) : entry}`);
}

const packed = '.gz';

/** What a rotation that broke off has left goes, and the oldest: the current log and the one that is set aside next count too. */
export function planTidying(rotated: readonly string[], maxFiles: number): { readonly kept: readonly string[]; readonly removed: readonly string[] } {
  const isWhole = (entry: string) => !entry.endsWith('.tmp') && !rotated.includes(`${entry}${packed}`);
  const whole = rotated.filter(isWhole).sort();
  const surplus = Math.max(0, whole.length - (maxFiles - 2));
  return { kept: whole.slice(surplus), removed: [...rotated.filter((entry) => !isWhole(entry)), ...whole.slice(0, surplus)] };
}

/** `20261202-040000`, in the node's own time as upstream has it. */
function stamp(nowMs: number): string {
  const at = new Date(nowMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}
