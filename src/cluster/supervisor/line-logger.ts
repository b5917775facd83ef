import type { Clock } from '#base/clock.ts';
import type { LogFields, Logger } from '#base/log.ts';

/** The supervisor's log: the lines of the other parts' logger, without a package to load. */
export function lineLogger(write: (line: string) => void, clock: Clock, always: LogFields = {}): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) =>
    write(`${JSON.stringify({ level, time: new Date(clock.now()).toISOString(), ...always, ...fields, msg: message })}\n`);
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: () => undefined,
    child: (fields) => lineLogger(write, clock, { ...always, ...fields }),
  };
}
