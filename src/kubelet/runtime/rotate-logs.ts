import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../ports/files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { RuntimeCache } from './runtime-cache.ts';

export interface LogRotationDeps {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly files: FilesPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maxBytes: number;
  /** The current one included, at least 2. */
  readonly maxFiles: number;
}

const compress = promisify(gzip);
const logMode = 0o640;

/** Rotates the logs of running containers that have grown too big. */
export async function rotateLogs(deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  const running = deps.cache.all().flatMap(({ containers }) => containers.filter(({ phase, logPath }) => phase === 'running' && logPath !== ''));
  for (const { id, logPath, name } of running) {
    try {
      await rotate(id, logPath, deps, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error;
      deps.logger.warn('a log cannot be rotated', { container: name, code: error.code, error: messageOf(error) });
    }
  }
}

async function rotate(containerId: string, logPath: string, deps: LogRotationDeps, signal: AbortSignal): Promise<void> {
  const { files, runtime, clock, maxBytes, maxFiles } = deps;
  const facts = await files.stat(logPath, signal);
  if (facts === undefined) return runtime.reopenContainerLog(containerId, signal);
  if (facts.sizeBytes <= maxBytes) return;
  const directory = logPath.slice(0, logPath.lastIndexOf('/'));
  const name = logPath.slice(directory.length + 1);
  const rotated = (await files.list(directory, signal))
    .map((entry) => entry.name)
    .filter((entry) => entry.startsWith(`${name}.`))
    .sort();
  const surplus = Math.max(0, rotated.length - (maxFiles - 2));
  for (const old of rotated.slice(0, surplus)) await files.removeTree(`${directory}/${old}`, signal);
  for (const old of rotated.slice(surplus)) {
    if (old.endsWith('.gz')) continue;
    const content = await files.read(`${directory}/${old}`, signal);
    if (content === undefined) continue;
    await files.write(`${directory}/${old}.gz`, await compress(content), logMode, signal);
    await files.removeTree(`${directory}/${old}`, signal);
  }
  const aside = `${logPath}.${stamp(clock.now())}`;
  await files.rename(logPath, aside, signal);
  try {
    await runtime.reopenContainerLog(containerId, signal);
  } catch (error) {
    await files.rename(aside, logPath, signal); // the runtime still writes to it
    throw error;
  }
}

/** `20261202-040000`, in the node's own time as upstream has it. */
function stamp(nowMs: number): string {
  const at = new Date(nowMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}
