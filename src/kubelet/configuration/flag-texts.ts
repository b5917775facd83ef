import { fieldFlags } from './flags.ts';

/** What flags for fields of the configuration would have to say for it. @param shown the configuration in the form in which it is written */
export function flagTexts(shown: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fieldFlags).map(([flag, [path, form]]) => [flag, flagText(valueAt(shown, path), form === 'map<' ? '<' : '=')]),
  );
}

function valueAt(shown: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = shown;
  for (const name of path.split('.')) value = isTable(value) ? value[name] : undefined;
  return value;
}

function flagText(value: unknown, sign: string): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((one) => (isTable(one) ? taintText(one) : String(one))).join(',');
  if (isTable(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}${sign}${String(one)}`)
      .join(',');
  return String(value);
}

function taintText({ key, value = '', effect }: Readonly<Record<string, unknown>>): string {
  return `${String(key)}${value === '' ? '' : `=${String(value)}`}:${String(effect)}`;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
