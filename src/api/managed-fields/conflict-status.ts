import { quote } from '../quote.ts';
import { failure, type StatusError } from '../status.ts';
import type { Conflict } from './apply.ts';
import type { Entry } from './entries.ts';
import { pathsOf } from './field-set.ts';

/** The answer to an apply that would change what others own. @param conflicts at least one */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const found = conflicts
    .map(({ entry, fields }) => ({ manager: printed(entry), order: orderOf(entry), paths: pathsOf(fields) }))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  const causes = found.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  );
  const [only] = causes;
  const text =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${only?.message}: ${only?.field}`
      : `Apply failed with ${causes.length} conflicts: ${found.map(({ manager, paths }) => [`conflicts with ${manager}:`, ...paths.map((path) => `- ${path}`)].join('\n')).join('\n')}`;
  return failure(409, 'Conflict', text, { causes });
}

function printed({ manager = '', operation, subresource = '', apiVersion }: Entry): string {
  const through = subresource === '' ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${through} using ${apiVersion}` : through;
}

/** Upstream sorts by the JSON of what tells managers apart. */
function orderOf({ manager, operation, subresource, apiVersion }: Entry): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation === 'Update' ? { apiVersion } : {}),
    ...(subresource === undefined ? {} : { subresource }),
  });
}
