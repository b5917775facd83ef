import type { FieldProblem } from '#api/field-problem.ts';
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
  const problem = problemOf(match, revision, token, query);
  if (problem !== undefined) throw invalidListOptions(problem);
  if (token !== '') {
    if (revision !== undefined && revision !== 0) throw badRequest('specifying resource version is not allowed when using continue');
    return { exactRevision: undefined, notOlderThan: undefined, limit, continued: decodeContinueToken(token) };
  }
  const isExact = match === 'Exact' || (match === '' && limit > 0 && revision !== undefined && revision > 0);
  return { exactRevision: isExact ? revision : undefined, notOlderThan: revision, limit, continued: undefined };
}

export function invalidListOptions(problem: FieldProblem) {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [problem]);
}

export function forbiddenMatch(detail: string): FieldProblem {
  return { type: 'Forbidden', field: 'resourceVersionMatch', detail };
}

function problemOf(match: string, revision: number | undefined, token: string, query: URLSearchParams): FieldProblem | undefined {
  if (query.has('sendInitialEvents')) return { type: 'Forbidden', field: 'sendInitialEvents', detail: 'sendInitialEvents is forbidden for list' };
  if (match === '') return undefined;
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const detail = 'supported values: "Exact", "NotOlderThan", ""';
    return { type: 'NotSupported', field: 'resourceVersionMatch', badValue: match, detail };
  }
  if (token !== '') return forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
  if (revision === undefined) return forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && revision === 0) return forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  return undefined;
}
