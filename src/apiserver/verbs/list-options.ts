import type { FieldProblem } from '#api/field-problem.ts';
import { quote } from '#api/quote.ts';
import { badRequest, invalid } from '#api/status.ts';
import { integerOf, resourceVersionOf } from '../request/query-options.ts';
import { type ContinueToken, decodeContinueToken } from './continue-token.ts';

export interface ListOptions {
  /** Exactly this state; undefined: any that `notOlderThan` allows. */
  readonly exactRevision: number | undefined;
  /** undefined: all that was committed before; 0: anything. */
  readonly notOlderThan: number | undefined;
  /** 0: no limit. */
  readonly limit: number;
  readonly continued: ContinueToken | undefined;
}

/** Upstream's table of resourceVersion, resourceVersionMatch, limit and continue. @throws a `StatusError` */
export function listOptionsOf(query: URLSearchParams): ListOptions {
  const revision = resourceVersionOf(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const limit = Math.max(0, integerOf(query, 'limit') ?? 0);
  const token = query.get('continue') ?? '';
  const problems = listProblems(query);
  if (problems.length > 0) throw invalidListOptions(problems);
  if (token !== '') {
    if (revision !== undefined && revision !== 0) throw badRequest('specifying resource version is not allowed when using continue');
    return { exactRevision: undefined, notOlderThan: undefined, limit, continued: decodeContinueToken(token) };
  }
  const isExact = match === 'Exact' || (match === '' && limit > 0 && revision !== undefined && revision > 0);
  return { exactRevision: isExact ? revision : undefined, notOlderThan: revision, limit, continued: undefined };
}

/** @param problems at least one */
export function invalidListOptions(problems: readonly FieldProblem[]) {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', problems);
}

function listProblems(query: URLSearchParams): readonly FieldProblem[] {
  const match = query.get('resourceVersionMatch') ?? '';
  const revision = query.get('resourceVersion') ?? '';
  const problems: FieldProblem[] = [];
  if (match !== '') {
    if (revision === '') problems.push(forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (query.get('continue')) problems.push(forbiddenMatch('resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') problems.push(unsupportedMatch(match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && revision === '0') {
      problems.push(forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) {
    problems.push({ type: 'Forbidden', field: 'sendInitialEvents', detail: 'sendInitialEvents is forbidden for list' });
  }
  return problems;
}

export function watchProblems(query: URLSearchParams): readonly FieldProblem[] {
  const match = query.get('resourceVersionMatch') ?? '';
  const sendsInitial = query.has('sendInitialEvents');
  const problems: FieldProblem[] = [];
  if (sendsInitial && match !== 'NotOlderThan') {
    problems.push(forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return problems;
  if (!sendsInitial) problems.push(forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  if (match !== 'NotOlderThan') problems.push(unsupportedMatch(match, ['NotOlderThan']));
  if (query.get('continue')) problems.push(forbiddenMatch('resourceVersionMatch is forbidden when continue is provided'));
  return problems;
}

function forbiddenMatch(detail: string): FieldProblem {
  return { type: 'Forbidden', field: 'resourceVersionMatch', detail };
}

function unsupportedMatch(match: string, supported: readonly string[]): FieldProblem {
  return { type: 'NotSupported', field: 'resourceVersionMatch', badValue: match, detail: `supported values: ${supported.map(quote).join(', ')}` };
}
