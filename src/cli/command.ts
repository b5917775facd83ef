import type { ParseArgsConfig } from 'node:util';
import { InvalidInput } from '#base/errors.ts';
import type { CliContext } from './context.ts';

/** 0 done, 1 failed, 2 usage, 130 interrupted (the command line's contract). */
export type ExitCode = 0 | 1 | 2 | 130;

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/** One command of the command line; `bin/kubernode.ts` imports its module when it is asked for. */
export interface Command {
  /** `run -f FILE [--timeout S]` */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** It reads its flags itself: `words` is all that follows its name. */
  readonly takesRawWords?: true;
  run(options: OptionValues, words: readonly string[], context: CliContext): Promise<ExitCode>;
}

/** Every command that speaks of a cluster takes these. */
export const clusterOptions = {
  name: { type: 'string', default: 'default' },
  'data-dir': { type: 'string' },
} as const satisfies Command['options'];

/** The words were not what the command takes: exit code 2. */
export class UsageError extends InvalidInput {}

export function stringOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws {UsageError} unless it is absent or a whole number within the bounds */
export function numberOption(options: OptionValues, name: string, min: number, max: number): number | undefined {
  const text = stringOption(options, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new UsageError({ message: `--${name} is ${JSON.stringify(text)}`, hint: `give a whole number from ${min} to ${max}` });
  }
  return value;
}

/** @throws {UsageError} for an output format that the command does not have */
export function outputOption<Format extends string>(options: OptionValues, formats: readonly Format[]): Format | undefined {
  const text = stringOption(options, 'output');
  if (text === undefined) return undefined;
  const format = formats.find((one) => one === text);
  if (format === undefined)
    throw new UsageError({ message: `-o ${text} is not an output of this command`, hint: `use one of: ${formats.join(', ')}` });
  return format;
}
