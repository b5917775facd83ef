import { InvalidInput } from '#base/errors.ts';

/** How one field of a configuration file is read. */
export interface Field<T> {
  readonly fallback: T;
  /** @param path of the field, for the error @throws {InvalidInput} */
  parse(value: unknown, path: string): T;
}

/** What a table of fields reads to. */
export type Parsed<Table> = { readonly [Name in keyof Table]: Table[Name] extends Field<infer T> ? T : never };

type AnyTable = Readonly<Record<string, Field<unknown>>>;

export function text(fallback: string): Field<string> {
  return { fallback, parse: (value, path) => (typeof value === 'string' ? value : refuse(path, 'is not a text')) };
}

export function flag(fallback: boolean): Field<boolean> {
  return { fallback, parse: (value, path) => (typeof value === 'boolean' ? value : refuse(path, 'is not true or false')) };
}

export function whole(fallback: number, min: number, max: number = Number.MAX_SAFE_INTEGER): Field<number> {
  return {
    fallback,
    parse(value, path) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      return refuse(path, `is not a whole number of ${min} to ${max}`);
    },
  };
}

export function decimal(fallback: number, min: number, max: number): Field<number> {
  return {
    fallback,
    parse: (value, path) => (typeof value === 'number' && value >= min && value <= max ? value : refuse(path, `is not a number of ${min} to ${max}`)),
  };
}

export function oneOf<const T extends string>(fallback: T, ...others: readonly T[]): Field<T> {
  const choices = [fallback, ...others];
  return {
    fallback,
    parse: (value, path) =>
      choices.find((choice) => choice === value) ?? refuse(path, `is not one of ${choices.map((choice) => `"${choice}"`).join(', ')}`),
  };
}

/** A Go duration, read to milliseconds: `1m30s`, `500ms`. */
export function duration(fallbackMs: number): Field<number> {
  return {
    fallback: fallbackMs,
    parse: (value, path) => (typeof value === 'string' ? durationMs(value) : undefined) ?? refuse(path, 'is not a duration such as "10s" or "1m30s"'),
  };
}

export function texts(fallback: readonly string[]): Field<readonly string[]> {
  return {
    fallback,
    parse(value, path) {
      if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
      return refuse(path, 'is not a list of texts');
    },
  };
}

export function textMap(fallback: Readonly<Record<string, string>>): Field<Readonly<Record<string, string>>> {
  return {
    fallback,
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
    parse: (value, path) =>
      Object.fromEntries(Object.entries(asObject(value, path)).map(([name, one]) => [name, item.parse(one, `${path}.${name}`)])),
  };
}

/** What is not set and has a meaning of its own when it is not. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { fallback: undefined, parse: (value, path) => field.parse(value, path) };
}

export function table<Table extends AnyTable>(fields: Table): Field<Parsed<Table>> {
  return { fallback: readTable(fields, {}, ''), parse: (value, path) => readTable(fields, asObject(value, path), path) };
}

export function listOf<T>(item: Field<T>): Field<readonly T[]> {
  return {
    fallback: [],
    parse: (value, path) => (Array.isArray(value) ? value.map((one, index) => item.parse(one, `${path}[${index}]`)) : refuse(path, 'is not a list')),
  };
}

function readTable<Table extends AnyTable>(fields: Table, given: Readonly<Record<string, unknown>>, path: string): Parsed<Table> {
  const stranger = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (stranger !== undefined) refuse(path === '' ? stranger : `${path}.${stranger}`, 'is not a known field');
  const read = Object.entries(fields).map(([name, field]) => {
    const value = given[name];
    return [name, value === undefined || value === null ? field.fallback : field.parse(value, path === '' ? name : `${path}.${name}`)] as const;
  });
  return Object.fromEntries(read) as Parsed<Table>; // the entries are the table's own, each read by its field
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
  throw new InvalidInput({ message: `${path} ${problem}`, hint: 'see https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/' });
}
