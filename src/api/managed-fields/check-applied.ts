import { goText } from '../go-text.ts';
import { quote } from '../quote.ts';
import { childOf, defaultOf, elementOfItem, type FieldType, isJsonObject, type JsonObject, type ListType, type ScalarType } from './field-type.ts';
import { printElement } from './path-element.ts';

/**
 * Whether an object can be applied: its fields are known and of their types, items of lists are told apart.
 *
 * @returns what is wrong, in upstream's words; '' when nothing is
 */
export function checkApplied(type: FieldType, object: JsonObject): string {
  const problems: string[] = [];
  check(type, object, '', problems);
  return problems.length < 2 ? (problems[0] ?? '') : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

function check(type: FieldType, value: unknown, path: string, problems: string[]): void {
  if (value === null || value === undefined) return;
  const refuse = (problem: string) => void problems.push(path === '' ? problem : `${path}: ${problem}`);
  switch (type.kind) {
    case 'untyped':
      return;
    case 'scalar': {
      const problem = problemOfScalar(type, value);
      if (problem !== undefined) refuse(problem);
      return;
    }
    case 'struct':
    case 'map':
      if (isJsonObject(value)) checkEntries(type, value, path, problems);
      else refuse(`expected map, got &{${goText(value)}}`);
      return;
    case 'list':
      if (Array.isArray(value)) checkItems(type, value, path, problems);
      else refuse(`expected list, got &{${goText(value)}}`);
  }
}

function checkEntries(type: FieldType, object: JsonObject, path: string, problems: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (type.kind === 'struct' && type.field(name) === undefined) {
      problems.push(`${path}.${name}: field not declared in schema`);
      return; // one is enough: upstream looks no further either
    }
    check(childOf(type, name).type, value, `${path}.${name}`, problems);
  }
}

function checkItems(type: ListType, items: readonly unknown[], path: string, problems: string[]): void {
  const refuse = (problem: string) => void problems.push(`${path}: ${problem}`);
  const found = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (type.owned === 'atomic') {
      check(type.items, item, `${path}[${index}]`, problems);
      continue;
    }
    const element = elementOfItem(type, item);
    if (element === undefined) {
      refuse(`element ${index}: ${problemOfItem(type, item)}`);
      continue;
    }
    const shown = printElement(element);
    if (found.has(element)) refuse(`duplicate entries for key ${shown}`);
    found.add(element);
    check(type.items, item, `${path}${shown}`, problems);
  }
}

function problemOfItem(type: ListType, item: unknown): string {
  if (type.owned === 'set') {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
    return `associative list without keys has an element that's ${item === null ? 'an explicit null' : 'a map type'}`;
  }
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements';
  const missing = type.keys.find((name) => (item[name] ?? defaultOf(type.items, name)) === undefined) ?? '';
  return `associative list with keys has an element that omits key field ${quote(missing)} (and doesn't have default value)`;
}

function problemOfScalar({ accepts }: ScalarType, value: unknown): string | undefined {
  if (typeof value === accepts) return undefined;
  switch (accepts) {
    case 'string':
      return `expected string, got &value.valueUnstructured{Value:${typeof value === 'object' ? goText(value) : String(value)}}`;
    case 'number':
      return `expected numeric (int or float), got ${goType(value)}`;
    case 'boolean':
      return `expected boolean, got ${goType(value)}`;
    case 'any':
      return typeof value === 'object' ? `expected any scalar, got &{${goText(value)}}` : undefined;
  }
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
