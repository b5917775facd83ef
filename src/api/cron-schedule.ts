import { InvalidInput } from '#base/errors.ts';
import { parseGoDuration } from './schema/protobuf/go-duration.ts';

/** When a CronJob runs. */
export type CronSchedule =
  /** So often after the last time. */
  | { readonly kind: 'every'; readonly seconds: number }
  /** At every minute that all fields take. */
  | { readonly kind: 'times'; readonly fields: CronFields };

export interface CronFields {
  readonly minutes: CronField;
  readonly hours: CronField;
  readonly daysOfMonth: CronField;
  /** From 1. */
  readonly months: CronField;
  /** From 0, Sunday. */
  readonly daysOfWeek: CronField;
}

export interface CronField {
  readonly values: ReadonlySet<number>;
  /** Written as `*` or `?`: of two fields for days the other one decides then, else either may. */
  readonly isAny: boolean;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** In lower case; the first stands for `min`. */
  readonly names: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minuteBounds: Bounds = { min: 0, max: 59, names: [] };
const hourBounds: Bounds = { min: 0, max: 23, names: [] };
const dayBounds: Bounds = { min: 1, max: 31, names: [] };
const monthBounds: Bounds = { min: 1, max: 12, names: months };
const weekBounds: Bounds = { min: 0, max: 6, names: days };

const macros: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const nanosPerSecond = 1_000_000_000n;

/**
 * Reads five fields, or a macro such as `@daily` or `@every 90s`. A library would take more than upstream does: seconds, `L`, `#`, `7` for
 * Sunday.
 *
 * @throws {InvalidInput} in upstream's words
 */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === '') throw bad('empty spec string');
  if (text.startsWith('@every ')) return { kind: 'every', seconds: parseInterval(text) };
  const macro = macros.get(text);
  if (text.startsWith('@') && macro === undefined) throw bad(`unrecognized descriptor: ${text}`);
  const fields = (macro ?? text).split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) throw bad(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  return {
    kind: 'times',
    fields: {
      minutes: parseField(minute, minuteBounds),
      hours: parseField(hour, hourBounds),
      daysOfMonth: parseField(day, dayBounds),
      months: parseField(month, monthBounds),
      daysOfWeek: parseField(weekday, weekBounds),
    },
  };
}

function parseInterval(text: string): number {
  try {
    const seconds = Number(parseGoDuration(text.slice('@every '.length)) / nanosPerSecond);
    return Math.max(1, seconds);
  } catch (error) {
    if (error instanceof InvalidInput) throw bad(`failed to parse duration ${text}: ${error.message}`);
    throw error;
  }
}

function parseField(text: string, bounds: Bounds): CronField {
  const ranges = text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => parseRange(part, bounds));
  const values = ranges.flatMap(({ first, last, step }) => {
    const count = Math.floor((last - first) / step) + 1;
    return Array.from({ length: count }, (_, index) => first + index * step);
  });
  return { values: new Set(values), isAny: ranges.some(({ isAny }) => isAny) };
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly isAny: boolean;
}

function parseRange(text: string, bounds: Bounds): Range {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreHyphens] = range.split('-');
  const isAll = low === '*' || low === '?';
  let [first, last] = [bounds.min, bounds.max];
  if (!isAll) {
    first = parseNumber(low, bounds);
    if (moreHyphens.length > 0) throw bad(`too many hyphens: ${text}`);
    last = high === undefined ? first : parseNumber(high, bounds);
  }
  if (moreSteps.length > 0) throw bad(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseInteger(stepText);
  if (stepText !== undefined && high === undefined) last = bounds.max; // `5/15` begins at 5
  if (first < bounds.min) throw bad(`beginning of range (${first}) below minimum (${bounds.min}): ${text}`);
  if (last > bounds.max) throw bad(`end of range (${last}) above maximum (${bounds.max}): ${text}`);
  if (first > last) throw bad(`beginning of range (${first}) beyond end of range (${last}): ${text}`);
  if (step === 0) throw bad(`step of range should be a positive number: ${text}`);
  return { first, last, step, isAny: isAll && step === 1 };
}

function parseNumber(text: string, { min, names }: Bounds): number {
  const named = names.indexOf(text.toLowerCase());
  return named < 0 ? parseInteger(text) : min + named;
}

function parseInteger(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) throw bad(`failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`);
  const value = Number(text);
  if (value < 0) throw bad(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function bad(message: string): InvalidInput {
  return new InvalidInput({ message });
}
