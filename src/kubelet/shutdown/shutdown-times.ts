import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../ports/files.ts';

export interface ShutdownTimes {
  /** Takes up what the kubelet before this one has left. */
  recall(signal: AbortSignal): Promise<void>;
  began(signal: AbortSignal): Promise<void>;
  ended(signal: AbortSignal): Promise<void>;
}

export interface ShutdownTimesDeps {
  /** The file that outlives the host's restart. */
  readonly path: string;
  readonly files: FilesPort;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** When the last graceful shutdown began and ended: for people who ask, after the node is back, whether its pods had their time. */
export function createShutdownTimes({ path, files, registry, clock, logger }: ShutdownTimesDeps): ShutdownTimes {
  const gauge = (which: 'start' | 'end') =>
    new Gauge({
      name: `kubelet_graceful_shutdown_${which}_time_seconds`,
      help: `Last graceful shutdown ${which} time since unix epoch in seconds`,
      registers: [registry],
    });
  const [startedAt, endedAt] = [gauge('start'), gauge('end')];
  let startMs = 0;
  const tell = async (endMs: number, signal: AbortSignal): Promise<void> => {
    startedAt.set(Math.floor(startMs / 1000));
    endedAt.set(Math.floor(endMs / 1000));
    const state = { startTime: timeOf(startMs), endTime: timeOf(endMs) };
    try {
      await files.write(path, JSON.stringify(state), 0o644, signal);
    } catch (error) {
      logger.warn('the time of the shutdown is not kept', { path, error: messageOf(error) }); // no reason to hold up the pods' end
    }
  };
  return {
    async recall(signal) {
      const text = await files.read(path, signal);
      const { startTime, endTime } = parse(text === undefined ? '{}' : Buffer.from(text).toString());
      startedAt.set(secondsOf(startTime));
      endedAt.set(secondsOf(endTime));
    },
    began(signal) {
      startMs = clock.now();
      return tell(0, signal);
    },
    ended: (signal) => tell(clock.now(), signal),
  };
}

/** The way in which upstream's file says "not yet". */
const never = '0001-01-01T00:00:00Z';

function timeOf(ms: number): string {
  return ms === 0 ? never : new Date(ms).toISOString();
}

function secondsOf(time: unknown): number {
  const ms = typeof time === 'string' ? Date.parse(time) : 0;
  return Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1000)) : 0;
}

function parse(json: string): { readonly startTime?: unknown; readonly endTime?: unknown } {
  try {
    const state: unknown = JSON.parse(json);
    return typeof state === 'object' && state !== null ? state : {};
  } catch {
    return {}; // cut off by the shutdown that it tells of
  }
}
