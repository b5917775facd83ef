import { duplicate, type FieldProblem, invalid, notSupported, required } from '#api/field-problem.ts';
import type { AuditAnnotation, ValidatingAdmissionPolicyStatus, Validation } from '#api/types/admissionregistration-v1.ts';
import { byteLength, findDuplicates } from '../checks.ts';
import { validateConditions } from '../conditions.ts';
import { qualifiedNameProblems } from '../names.ts';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const annotationsMax = 20;
const valueMaxBytes = 5 * 1024;

/** What a policy refuses and what it writes down; at least one of them. @param name of the policy */
export function validateChecks(
  validations: readonly Validation[],
  annotations: readonly AuditAnnotation[],
  name: string,
  field: string,
): readonly FieldProblem[] {
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [required(`${field}.validations`, detail), required(`${field}.auditAnnotations`, detail)];
  }
  return [
    ...validations.flatMap((validation, index) => validateValidation(validation, `${field}.validations[${index}]`)),
    ...validateAnnotations(annotations, name, `${field}.auditAnnotations`),
  ];
}

function validateValidation(validation: Validation, field: string): readonly FieldProblem[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const problems: FieldProblem[] = [];
  if (expression.trim() === '') problems.push(required(`${field}.expression`, 'expression is not specified'));
  if (messageExpression !== '' && messageExpression.trim() === '') {
    problems.push(invalid(`${field}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  }
  if (message !== '' && message.trim() === '') problems.push(invalid(`${field}.message`, message, 'message must be non-empty if specified'));
  else if (/[\n\r]/.test(message.trim())) problems.push(invalid(`${field}.message`, message, 'message must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(reason)) problems.push(notSupported(`${field}.reason`, reason, reasons));
  return problems;
}

function validateAnnotations(annotations: readonly AuditAnnotation[], name: string, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (annotations.length > annotationsMax) {
    problems.push(invalid(field, annotations, `must not have more than ${annotationsMax} auditAnnotations`));
  }
  for (const [index, { key = '', valueExpression = '' }] of annotations.entries()) {
    const at = `${field}[${index}]`;
    const full = `${name}/${key}`;
    problems.push(...qualifiedNameProblems(full).map((text) => invalid(`${at}.key`, full, text)));
    if (valueExpression.trim() === '') problems.push(required(`${at}.valueExpression`, 'valueExpression is not specified'));
    else if (byteLength(valueExpression.trim()) > valueMaxBytes) {
      problems.push(required(`${at}.valueExpression`, `must not exceed ${valueMaxBytes} bytes in length`));
    }
  }
  const repeated = findDuplicates(
    annotations,
    ({ key }) => key,
    ({ key }, index) => duplicate(`${field}[${index}].key`, key),
  );
  return [...problems, ...repeated];
}

const actions = ['Audit', 'Deny', 'Warn'];

export function validateActions(given: readonly string[], field: string): readonly FieldProblem[] {
  if (given.length === 0) return [required(field, 'at least one validation action is required')];
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...given.flatMap((action, index) => (actions.includes(action) ? [] : [notSupported(`${field}[${index}]`, action, actions)])),
    ...findDuplicates(
      given,
      (action) => action,
      (action, index) => duplicate(`${field}[${index}]`, action),
    ),
    ...(given.includes('Deny') && given.includes('Warn') ? [invalid(field, given, both)] : []),
  ];
}

export function validatePolicyStatus({ typeChecking, conditions = [] }: ValidatingAdmissionPolicyStatus, field: string): readonly FieldProblem[] {
  const warnings = (typeChecking?.expressionWarnings ?? []).flatMap(({ warning = '', fieldRef = '' }, index) => {
    const at = `${field}.typeChecking.expressionWarnings[${index}]`;
    return [...(warning === '' ? [required(`${at}.warning`)] : []), ...(fieldRef.trim() === '' ? [required(`${at}.fieldRef`)] : [])];
  });
  return [...warnings, ...validateConditions(conditions, `${field}.conditions`)];
}
