import { duplicate, type FieldProblem, required } from '#api/field-problem.ts';
import { findDuplicates } from '../checks.ts';

interface Condition {
  readonly type?: string | undefined;
}

/** All that is asked of conditions here. */
export function validateConditionTypes(conditions: readonly Condition[], field: string): readonly FieldProblem[] {
  return [
    ...findDuplicates(
      conditions,
      ({ type = '' }) => type,
      ({ type }, index) => duplicate(`${field}[${index}].type`, type),
    ),
    ...conditions.flatMap(({ type = '' }, index) => (type === '' ? [required(`${field}[${index}].type`, 'must not be empty')] : [])),
  ];
}
