import { deepEqual } from '#api/deep-equal.ts';
import { duplicate, type FieldProblem, invalid, required } from '#api/field-problem.ts';
import type { TopologySelectorTerm } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';
import { qualifiedNameProblems } from '../names.ts';

/** Where volumes of a class may be made. */
export function validateTopologies(terms: readonly TopologySelectorTerm[], field: string): readonly FieldProblem[] {
  return terms.flatMap((term, index) => [
    ...validateTerm(term, `${field}[${index}].matchLabelExpressions`),
    ...terms
      .slice(0, index)
      .filter((earlier) => deepEqual(valuesByKey(earlier), valuesByKey(term)))
      .map(() => duplicate(`${field}[${index}].matchLabelExpressions`, '')),
  ]);
}

function validateTerm({ matchLabelExpressions: expressions = [] }: TopologySelectorTerm, field: string): readonly FieldProblem[] {
  const problems = expressions.flatMap(({ key = '', values = [] }, index) => {
    const at = `${field}[${index}]`;
    return [
      ...(values.length === 0 ? [required(`${at}.values`)] : []),
      ...findDuplicates(
        values,
        (value) => value,
        (value, place) => duplicate(`${at}.values[${place}]`, value),
      ),
      ...qualifiedNameProblems(key).map((text) => invalid(`${at}.key`, key, text)),
    ];
  });
  const repeated = findDuplicates(
    expressions,
    ({ key }) => key,
    ({ key }, index) => duplicate(`${field}[${index}].key`, key),
  );
  return [...problems, ...repeated];
}

function valuesByKey({ matchLabelExpressions = [] }: TopologySelectorTerm): object {
  return Object.fromEntries(matchLabelExpressions.map(({ key, values = [] }) => [key, [...new Set(values)].sort()]));
}
