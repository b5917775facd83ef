import type { Clock } from '#base/clock.ts';
import type { LogFields, Logger } from '#base/log.ts';

export interface LineLoggerOptions {
  readonly write: (line: string) => void;
  readonly clock: Clock;
  /** Fields of every line. */
  readonly always: LogFields;
  /** Whether lines for those who debug are written too. */
  readonly isVerbose: boolean | (() => boolean);
}

/** The log of a part: JSON lines, without a package to load. */
export function lineLogger(options: LineLoggerOptions): Logger {
  const { write, clock, always, isVerbose } = options;
  const at = (level: string) => (message: string, fields?: LogFields) =>
    write(`${JSON.stringify({ level, time: new Date(clock.now()).toISOString(), ...always, ...fields, msg: message })}\n`);
  const debug = at('debug');
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: typeof isVerbose === 'function' ? (message, fields) => void (isVerbose() && debug(message, fields)) : isVerbose ? debug : () => undefined,
    child: (fields) => lineLogger({ ...options, always: { ...always, ...fields } }),
  };
}
