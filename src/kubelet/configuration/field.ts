import { InvalidInput } from '#base/errors.ts';

/** How one field of a configuration file is read. */
export interface Field<T> {
  readonly fallback: T;
  /** What may stand there, for people. */
  readonly form: string;
  /** @param path of the field, for the error @throws {InvalidInput} */
  parse(value: unknown, path: string): T;
}

/** Fields that are not what they should be. */
export class InvalidFields extends InvalidInput {
  /** Each with the path of its field. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super({ message: inOne(problems), hint: 'see https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/' });
    this.problems = problems;
  }
}

/** Several problems in one text, as upstream joins them. */
export function inOne(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
}

/** What a table of fields reads to. */
export type Parsed<Table> = { readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never };

type AnyTable = Readonly<Record<string, Field<unknown>>>;

export function text(fallback: string): Field<string> {
  return { fallback, form: 'text', parse: (value, path) => (typeof value === 'string' ? value : refuse(path, 'is not a text')) };
}

export function flag(fallback: boolean): Field<boolean> {
  return { fallback, form: 'true or false', parse: (value, path) => (typeof value === 'boolean' ? value : refuse(path, 'is not true or false')) };
}

export function whole(fallback: number, min: number, max: number = Number.MAX_SAFE_INTEGER): Field<number> {
  return {
    fallback,
    form: 'whole number',
    parse(value, path) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      return refuse(path, `is not a whole number of ${min} to ${max}`);
    },
  };
}

export function decimal(fallback: number, min: number, max: number): Field<number> {
  return {
    fallback,
    form: 'number',
    parse: (value, path) => (typeof value === 'number' && value >= min && value <= max ? value : refuse(path, `is not a number of ${min} to ${max}`)),
  };
}

export function oneOf<const T extends string>(fallback: T, ...others: readonly T[]): Field<T> {
  const choices = [fallback, ...others];
  return {
    fallback,
    form: choices.map((choice) => JSON.stringify(choice)).join(', '),
    parse: (value, path) =>
      choices.find((choice) => choice === value) ?? refuse(path, `is not one of ${choices.map((choice) => `"${choice}"`).join(', ')}`),
  };
}

/**
 * What is not to be had as zero or as an empty text: written so, as tools do that print every field, it means the default. Source: upstream's
 * rules for defaults.
 */
export function neverEmpty<T extends string | number>(field: Field<T>): Field<T> {
  return { ...field, parse: (value, path) => (value === 0 || value === '' ? field.fallback : field.parse(value, path) || field.fallback) };
}

/** Anything: it is not looked at. */
export const anything: Field<unknown> = { fallback: undefined, form: 'anything', parse: (value) => value };

/** A Go duration, read to milliseconds: `1m30s`, `500ms`. */
export function duration(fallbackMs: number): Field<number> {
  return {
    fallback: fallbackMs,
    form: 'duration',
    parse: (value, path) => (typeof value === 'string' ? durationMs(value) : undefined) ?? refuse(path, 'is not a duration such as "10s" or "1m30s"'),
  };
}

export function texts(fallback: readonly string[]): Field<readonly string[]> {
  return {
    fallback,
    form: 'list of texts',
    parse(value, path) {
      if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
      return refuse(path, 'is not a list of texts');
    },
  };
}

export function textMap(fallback: Readonly<Record<string, string>>): Field<Readonly<Record<string, string>>> {
  return {
    fallback,
    form: 'map of texts',
    parse(value, path) {
      return Object.fromEntries(
        Object.entries(asObject(value, path)).map(([name, item]) => [
          name,
          typeof item === 'string' ? item : refuse(`${path}.${name}`, 'is not a text'),
        ]),
      );
    },
  };
}

export function mapOf<T>(item: Field<T>): Field<Readonly<Record<string, T>>> {
  return {
    fallback: {},
    form: `map of: ${item.form}`,
    parse: (value, path) =>
      Object.fromEntries(Object.entries(asObject(value, path)).map(([name, one]) => [name, item.parse(one, `${path}.${name}`)])),
  };
}

/** What is not set and has a meaning of its own when it is not. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { fallback: undefined, form: field.form, parse: (value, path) => field.parse(value, path) };
}

export function table<Table extends AnyTable>(fields: Table): Field<Parsed<Table>> {
  return { fallback: readTable(fields, {}, ''), form: 'table', parse: (value, path) => readTable(fields, asObject(value, path), path) };
}

export function listOf<T>(item: Field<T>): Field<readonly T[]> {
  return {
    fallback: [],
    form: `list of: ${item.form}`,
    parse: (value, path) =>
      Array.isArray(value) ? collected(value.map((one, index) => () => item.parse(one, `${path}[${index}]`))) : refuse(path, 'is not a list'),
  };
}

function readTable<Table extends AnyTable>(fields: Table, given: Readonly<Record<string, unknown>>, path: string): Parsed<Table> {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const strangers = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
  const read = collected([
    ...strangers.map((name) => () => refuse(at(name), 'is not a known field')),
    ...Object.entries(fields).map(([name, field]) => () => {
      const value = given[name];
      return [name, value === undefined || value === null ? field.fallback : field.parse(value, at(name))] as const;
    }),
  ]);
  return Object.fromEntries(read) as Parsed<Table>; // the entries are the table's own, each read by its field
}

/** All that is wrong is said at once. @throws {InvalidFields} */
function collected<T>(parts: readonly (() => T)[]): readonly T[] {
  const problems: string[] = [];
  const read = parts.flatMap((part) => {
    try {
      return [part()];
    } catch (error) {
      if (!(error instanceof InvalidFields)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new InvalidFields(problems);
  return read;
}

function asObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(path, 'is not an object');
  return { ...value };
}

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };

function durationMs(value: string): number | undefined {
  if (value === '0') return 0;
  if (!/^(\d+(\.\d+)?(h|ms|m|s|us|µs|ns))+$/.test(value)) return undefined;
  return [...value.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g)].reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * (unitsMs[unit] ?? 0),
    0,
  );
}

function refuse(path: string, problem: string): never {
  throw new InvalidFields([`${path} ${problem}`]);
}
