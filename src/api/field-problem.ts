import { quote } from './quote.ts';

/** One thing that is wrong with one field of an object. */
export interface FieldProblem {
  readonly type: FieldProblemType;
  /** Such as `spec.containers[0].image` or `metadata.labels[a/b]`. */
  readonly field: string;
  /** What the rule is; may be empty where the type says it all. */
  readonly detail: string;
  /** The value that broke the rule, for the types that print it. */
  readonly badValue?: unknown;
  /** The value is not printed, whatever the type says: it would be a whole object. */
  readonly omitsValue?: boolean;
}

export type FieldProblemType =
  | 'Required'
  | 'Invalid'
  | 'TypeInvalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'NotFound'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'TooShort'
  | 'TooFew'
  | 'InternalError';

interface TypeText {
  readonly text: string;
  /** The `reason` of a cause in a `Status`. */
  readonly reason: string;
  readonly showsValue: boolean;
}

const types: Readonly<Record<FieldProblemType, TypeText>> = {
  Required: { text: 'Required value', reason: 'FieldValueRequired', showsValue: false },
  Invalid: { text: 'Invalid value', reason: 'FieldValueInvalid', showsValue: true },
  TypeInvalid: { text: 'Invalid value', reason: 'FieldValueTypeInvalid', showsValue: true },
  NotSupported: { text: 'Unsupported value', reason: 'FieldValueNotSupported', showsValue: true },
  Duplicate: { text: 'Duplicate value', reason: 'FieldValueDuplicate', showsValue: true },
  NotFound: { text: 'Not found', reason: 'FieldValueNotFound', showsValue: true },
  Forbidden: { text: 'Forbidden', reason: 'FieldValueForbidden', showsValue: false },
  TooLong: { text: 'Too long', reason: 'FieldValueTooLong', showsValue: false },
  TooMany: { text: 'Too many', reason: 'FieldValueTooMany', showsValue: true },
  TooShort: { text: 'Too short', reason: 'FieldValueTooShort', showsValue: false },
  TooFew: { text: 'Too few', reason: 'FieldValueTooFew', showsValue: false },
  InternalError: { text: 'Internal error', reason: 'InternalError', showsValue: false },
};

export const required = (field: string, detail = ''): FieldProblem => ({ type: 'Required', field, detail });
export const invalid = (field: string, badValue: unknown, detail: string): FieldProblem => ({ type: 'Invalid', field, detail, badValue });
export const invalidWhole = (field: string, detail: string): FieldProblem => ({ type: 'Invalid', field, detail, omitsValue: true });
export const forbidden = (field: string, detail: string): FieldProblem => ({ type: 'Forbidden', field, detail });
export const duplicate = (field: string, badValue: unknown): FieldProblem => ({ type: 'Duplicate', field, detail: '', badValue });
export const notFound = (field: string, badValue: unknown): FieldProblem => ({ type: 'NotFound', field, detail: '', badValue });
export const tooLong = (field: string, maxBytes: number): FieldProblem => ({
  type: 'TooLong',
  field,
  detail: `may not be more than ${maxBytes} bytes`,
});
export const tooMany = (field: string, count: number, max: number): FieldProblem => ({
  type: 'TooMany',
  field,
  detail: `must have at most ${max} items`,
  badValue: count,
});
export const notSupported = (field: string, badValue: unknown, supported: readonly string[]): FieldProblem => ({
  type: 'NotSupported',
  field,
  detail: supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`,
  badValue,
});

/** `Required value`, `Invalid value: "x": must be …`: a problem without its field, as a cause of a `Status` has it. */
export function problemBody(problem: FieldProblem): string {
  const { text, showsValue } = types[problem.type];
  const value = showsValue && problem.omitsValue !== true ? `: ${printValue(problem.badValue)}` : '';
  return `${text}${value}${problem.detail === '' ? '' : `: ${problem.detail}`}`;
}

/** `spec.containers[0].image: Required value`. */
export function problemText(problem: FieldProblem): string {
  return `${problem.field}: ${problemBody(problem)}`;
}

/** What the `reason` of the cause is. */
export function problemReason(problem: FieldProblem): string {
  return types[problem.type].reason;
}

/** One problem bare, several as `[a, b]`, the same text once. */
export function problemsText(problems: readonly FieldProblem[]): string {
  const texts = [...new Set(problems.map(problemText))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value === undefined || value === null) return 'null';
  return typeof value === 'object' ? JSON.stringify(value, withSortedMaps) : String(value);
}

/** Fields that are maps: upstream prints those by key. */
const maps: ReadonlySet<string> = new Set(['annotations', 'labels', 'limits', 'matchLabels', 'nodeSelector', 'overhead', 'requests']);

function withSortedMaps(name: string, value: unknown): unknown {
  if (!maps.has(name) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
