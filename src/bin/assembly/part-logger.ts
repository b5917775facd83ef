import { systemClock } from '#base/clock.ts';
import type { LogFields, Logger } from '#base/log.ts';
import { lineLogger } from '#cluster/supervisor/line-logger.ts';

/** A part's log goes to stderr; with `KUBERNODE_DEBUG` set when `up` ran it tells of every step. */
export function partLogger(always: LogFields): Logger {
  const write = (line: string) => void process.stderr.write(line);
  return lineLogger({ write, clock: systemClock, always, isVerbose: () => isVerbose });
}

let isVerbose = process.env['KUBERNODE_DEBUG'] !== undefined;

/** Of every log of this process, from now on. */
export function setVerbose(verbose: boolean): void {
  isVerbose = verbose;
}
