import { type FieldProblem, invalid, required, tooLong, tooMany } from '#api/field-problem.ts';
import { countIndexes, type IndexRun, parseIndexes } from '#api/job/index-list.ts';
import type { SuccessPolicy, SuccessPolicyRule } from '#api/types/batch-v1.ts';
import { InvalidInput } from '#base/errors.ts';
import { validateNonNegative } from '../workload.ts';

const maxRules = 20;
const indexesMaxBytes = 64 * 1024;

/** When an Indexed job is done before all its indexes are. */
export function validateSuccessPolicy({ rules = [] }: SuccessPolicy, completions: number, field: string): readonly FieldProblem[] {
  const at = `${field}.rules`;
  return [
    ...(rules.length === 0 ? [required(at, 'at least one rules must be specified when the successPolicy is specified')] : []),
    ...(rules.length > maxRules ? [tooMany(at, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, completions, `${at}[${index}]`)),
  ];
}

function validateRule({ succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule, completions: number, field: string) {
  const problems: FieldProblem[] = [];
  if (count === undefined && indexes === undefined) {
    problems.push(required(field, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  let total = 0;
  if (indexes !== undefined) {
    const at = `${field}.succeededIndexes`;
    if (indexes.length > indexesMaxBytes) problems.push(tooLong(at, indexesMaxBytes));
    const runs = readIndexes(indexes, completions, at, 'succeededIndexes');
    problems.push(...runs.problems);
    total = countIndexes(runs.runs);
  }
  if (count !== undefined) {
    const at = `${field}.succeededCount`;
    problems.push(...validateNonNegative(count, at));
    if (count > completions) problems.push(invalid(at, count, `must be less than or equal to ${completions} (the number of specified completions)`));
    if (indexes !== undefined && count > total) {
      const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
      problems.push(invalid(at, count, detail));
    }
  }
  return problems;
}

/** The runs of a list, or what is wrong with it. @param name how the list is called in the message */
export function readIndexes(
  text: string,
  completions: number,
  field: string,
  name: string,
): { readonly runs: readonly IndexRun[]; readonly problems: readonly FieldProblem[] } {
  try {
    return { runs: parseIndexes(text, completions), problems: [] };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { runs: [], problems: [invalid(field, text, `error parsing ${name}: ${error.message}`)] };
  }
}
