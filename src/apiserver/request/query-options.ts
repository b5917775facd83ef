import type { FieldProblem } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { fieldSelectorFor, parseFieldSelector, parseLabelSelector } from '#api/selector.ts';
import { badRequest, invalid } from '#api/status.ts';
import { InvalidInput } from '#base/errors.ts';
import type { ObjectFilter } from '../registry/object-filter.ts';

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

/** @param found problems that are known already @throws a `StatusError` for a value that is not one of those allowed */
export function writeOptionsOf(query: URLSearchParams, kind: WriteOptionsKind, found: readonly FieldProblem[] = []): WriteOptions {
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  const isKnown = fieldValidation === 'Ignore' || fieldValidation === 'Warn' || fieldValidation === 'Strict';
  const problems: FieldProblem[] = [
    ...found,
    ...(kind === 'PatchOptions' && query.has('force') ? [forcedProblem] : []),
    ...managerProblems(query.get('fieldManager') ?? ''),
    ...dryRunProblems(query.getAll('dryRun')),
    ...(isKnown ? [] : [unsupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (problems.length > 0 || !isKnown) throw invalid({ group: 'meta.k8s.io', kind }, '', problems);
  return { isDryRun: query.getAll('dryRun').length > 0, fieldValidation };
}

export interface ApplyOptions extends WriteOptions {
  /** Takes the fields of others. */
  readonly isForced: boolean;
}

/** Options of a PATCH that applies. @throws a 422 `StatusError` */
export function applyOptionsOf(query: URLSearchParams): ApplyOptions {
  const hasManager = (query.get('fieldManager') ?? '') !== '';
  const options = new URLSearchParams(query);
  options.delete('force');
  const problems = hasManager ? [] : [{ type: 'Required', field: 'fieldManager', detail: 'is required for apply patch' } as const];
  return { ...writeOptionsOf(options, 'PatchOptions', problems), isForced: booleanOf(query, 'force') ?? false };
}

const forcedProblem: FieldProblem = { type: 'Forbidden', field: 'force', detail: 'may not be specified for non-apply patch' };

export function dryRunProblems(values: readonly string[]): readonly FieldProblem[] {
  return values.every((value) => value === 'All') ? [] : [{ ...unsupported('dryRun', '', ['All']), badValue: values }];
}

function managerProblems(manager: string): readonly FieldProblem[] {
  if (Buffer.byteLength(manager) > 128) return [{ type: 'TooLong', field: 'fieldManager', detail: 'may not be more than 128 bytes' }];
  const place = manager.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (place < 0) return [];
  const code = (manager.codePointAt(place) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const detail = `invalid character U+${code} (at position ${Buffer.byteLength(manager.slice(0, place))})`;
  return [{ type: 'Invalid', field: 'fieldManager', badValue: manager, detail }];
}

function unsupported(field: string, badValue: string, allowed: readonly string[]): FieldProblem {
  return { type: 'NotSupported', field, badValue, detail: `supported values: ${allowed.map(quote).join(', ')}` };
}

/** What a list or a watch is about. @throws a 400 `StatusError` for a selector that cannot be read or is not one of the kind's */
export function filterOf(kind: Kind, namespace: string, query: URLSearchParams): ObjectFilter {
  try {
    const labels = parseLabelSelector(query.get('labelSelector') ?? '');
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
    fieldSelectorFor(kind, fields); // says which fields the kind does not have
    const isNamespaced = kind.scope === 'Namespaced';
    const within = !isNamespaced ? '' : namespace !== '' ? namespace : (fields.exactValue('metadata.namespace') ?? '');
    const name = isNamespaced && within === '' ? undefined : fields.exactValue('metadata.name');
    return {
      namespace: within,
      onlyKey: name === undefined ? undefined : isNamespaced ? `${within}/${name}` : name,
      labels: labels.isEverything ? undefined : (values) => labels.matches(values),
      fields: fields.isEverything ? undefined : (values) => fields.matches((field) => values[field] ?? ''),
    };
  } catch (error) {
    if (error instanceof InvalidInput) throw badRequest(error.message);
    throw error;
  }
}

/** Undefined when it is not set; 0 means any state. @throws a 400 `StatusError` */
export function resourceVersionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^\d{1,19}$/.test(text)) return Number(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: invalid syntax`,
  );
}

/** @throws a 400 `StatusError` when it is not an integer */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
}

/** Upstream's rule for options that are on or off: whatever is there is a yes, but for `false` and `0`. Undefined when nothing is there. */
export function booleanOf(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text.toLowerCase() !== 'false' && text !== '0';
}
