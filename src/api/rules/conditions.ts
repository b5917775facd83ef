import { duplicate, type FieldProblem, invalid, notSupported, required, tooLong } from '../field-problem.ts';
import type { Condition } from '../types/meta-v1.ts';
import { byteLength, findDuplicates } from './checks.ts';
import { qualifiedNameProblems } from './names.ts';

const statuses = ['False', 'True', 'Unknown'];
const reasonMaxBytes = 1_024;
const messageMaxBytes = 32 * 1_024;
const reason = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const isReason = new RegExp(`^${reason}$`);
const reasonText =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end " +
  "with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used " +
  `for validation is '${reason}')`;

/** Conditions of the shape that newer kinds share. */
export function validateConditions(conditions: readonly Condition[], field: string): readonly FieldProblem[] {
  const repeated = findDuplicates(
    conditions,
    ({ type }) => type,
    ({ type }, index) => duplicate(`${field}[${index}].type`, type),
  );
  return [...repeated, ...conditions.flatMap((condition, index) => validateCondition(condition, `${field}[${index}]`))];
}

function validateCondition(condition: Partial<Condition>, field: string): readonly FieldProblem[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  const problems: FieldProblem[] = qualifiedNameProblems(type).map((text) => invalid(`${field}.type`, type, text));
  if (!statuses.includes(status)) problems.push(notSupported(`${field}.status`, status, statuses));
  if (observedGeneration < 0) {
    problems.push(invalid(`${field}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'));
  }
  if (lastTransitionTime === undefined) problems.push(required(`${field}.lastTransitionTime`, 'must be set'));
  if (reason === '') problems.push(required(`${field}.reason`, 'must be set'));
  else if (!isReason.test(reason)) problems.push(invalid(`${field}.reason`, reason, reasonText));
  if (byteLength(reason) > reasonMaxBytes) problems.push(tooLong(`${field}.reason`, reasonMaxBytes));
  if (byteLength(message) > messageMaxBytes) problems.push(tooLong(`${field}.message`, messageMaxBytes));
  return problems;
}
