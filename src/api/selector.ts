import { InvalidInput } from '#base/errors.ts';
import type { Kind } from './kind.ts';
import { type LabelRequirement, parseLabelRequirements } from './label-selector-text.ts';
import type { KubeObject } from './object.ts';
import { quote } from './quote.ts';
import type { LabelSelector } from './types/meta-v1.ts';

export type Labels = Readonly<Record<string, string>> | undefined;

export interface LabelMatcher {
  readonly requirements: readonly LabelRequirement[];
  readonly isEverything: boolean;
  matches(labels: Labels): boolean;
}

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export interface FieldMatcher {
  readonly requirements: readonly FieldRequirement[];
  readonly isEverything: boolean;
  /** @param read the value of a field, '' where the object has none */
  matches(read: (field: string) => string): boolean;
  /** The value that the selector asks of a field with `=`: `metadata.name` narrows a list to one object. */
  exactValue(field: string): string | undefined;
}

/**
 * The selector of a list or watch: `a=b,c!=d,e in (f,g),!h,i>1`.
 *
 * @throws {InvalidInput} with upstream's message
 */
export function parseLabelSelector(text: string): LabelMatcher {
  return labelMatcher(parseLabelRequirements(text));
}

/** Matcher of a `LabelSelector` object: nothing for an absent one, everything for an empty one. @throws {InvalidInput} for an unknown operator */
export function labelSelectorMatcher(selector: LabelSelector | undefined): LabelMatcher {
  if (selector === undefined) return { requirements: [], isEverything: false, matches: () => false };
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: 'in', values: [value] }) as const);
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }): LabelRequirement => {
    switch (operator) {
      case 'In':
        return { key, operator: 'in', values };
      case 'NotIn':
        return { key, operator: 'notin', values };
      case 'Exists':
        return { key, operator: 'exists', values: [] };
      case 'DoesNotExist':
        return { key, operator: '!', values: [] };
      default:
        throw new InvalidInput({ message: `${quote(operator)} is not a valid label selector operator` });
    }
  });
  return labelMatcher([...exact, ...expressions]);
}

export function labelSelectorMatches(selector: LabelSelector | undefined, labels: Labels): boolean {
  return labelSelectorMatcher(selector).matches(labels);
}

/** The same, for selectors that nobody has checked: one that cannot be read covers nothing. */
export function labelSelectorCovers(selector: LabelSelector | undefined, labels: Labels): boolean {
  try {
    return labelSelectorMatches(selector, labels);
  } catch (error) {
    if (error instanceof InvalidInput) return false;
    throw error;
  }
}

/**
 * The field selector of a list or watch: `status.phase!=Running,spec.nodeName=n1`.
 *
 * @throws {InvalidInput} with upstream's message
 */
export function parseFieldSelector(text: string): FieldMatcher {
  const requirements = splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => parseFieldTerm(text, term));
  return {
    requirements,
    isEverything: requirements.length === 0,
    matches: (read) => requirements.every(({ field, operator, value }) => (read(field) === value) === (operator === '=')),
    exactValue: (name) => requirements.find(({ field, operator }) => field === name && operator === '=')?.value,
  };
}

/**
 * Joins a field selector with the fields that a kind lets be selected by.
 *
 * @throws {InvalidInput} with upstream's message when the kind does not have such a field
 */
export function fieldSelectorFor<T extends KubeObject>(kind: Kind<T>, selector: FieldMatcher): (object: T) => boolean {
  const known = Object.keys(kind.selectableFields);
  for (const { field } of selector.requirements) {
    const isCommon = field === 'metadata.name' || (field === 'metadata.namespace' && (kind.scope === 'Namespaced' || known.length === 0));
    if (isCommon || known.includes(field)) continue;
    throw new InvalidInput({ message: unknownField(kind, field) });
  }
  if (selector.isEverything) return () => true;
  return (object) => selector.matches((field) => selectableField(kind, object, field));
}

/** Jobs have words of their own for it. */
function unknownField(kind: Pick<Kind, 'kind' | 'selectableFields'>, field: string): string {
  if (kind.kind === 'Job') return `field label ${quote(field)} not supported for Job`;
  return Object.keys(kind.selectableFields).length > 0
    ? `field label not supported: ${field}`
    : `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** The value of a field that objects can be selected by. */
export function selectableField<T extends KubeObject>(kind: Kind<T>, object: T, field: string): string {
  if (field === 'metadata.name') return object.metadata.name;
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  return kind.selectableFields[field]?.(object) ?? '';
}

function labelMatcher(requirements: readonly LabelRequirement[]): LabelMatcher {
  return {
    requirements,
    isEverything: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => meetsRequirement(requirement, labels)),
  };
}

/** A bound that is no whole number is met by nothing. */
export function meetsRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
    case '<': {
      const [bound] = values;
      if (!isInteger(value) || !isInteger(bound)) return false;
      return operator === '>' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^[-+]?\d+$/.test(text);
}

/** Splits at commas that no backslash protects. */
function splitTerms(text: string): readonly string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
}

function parseFieldTerm(all: string, term: string): FieldRequirement {
  const parts = /^((?:\\.|[^\\=!]|!(?!=))*)(!=|==|=)(.*)$/s.exec(term);
  const [, field, operator, value] = parts ?? [];
  if (field === undefined || value === undefined) {
    throw new InvalidInput({ message: `invalid selector: '${all}'; can't understand '${term}'` });
  }
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
}

function unescapeValue(value: string): string {
  return value.replace(/\\(.?)|[,=]/gs, (found: string, escaped: string | undefined) => {
    if (escaped !== undefined && '\\,='.includes(escaped) && escaped !== '') return escaped;
    const what = escaped === undefined ? `unescaped character in value: ${found}` : `invalid escape sequence: ${found}`;
    throw new InvalidInput({ message: `invalid field selector: ${what}` });
  });
}
