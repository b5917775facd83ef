import { type FieldProblem, forbidden, invalid, required } from '../field-problem.ts';
import type { LabelSelector } from '../types/meta-v1.ts';
import { validateLabels } from './metadata.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';

/** A `LabelSelector` as part of an object. */
export function validateLabelSelector(selector: LabelSelector, field: string): readonly FieldProblem[] {
  const expressions = (selector.matchExpressions ?? []).flatMap(({ key = '', operator = '', values = [] }, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const problems: FieldProblem[] = [];
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) problems.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) problems.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        break;
      default:
        problems.push(invalid(`${at}.operator`, operator, 'not a valid selector operator'));
    }
    problems.push(...qualifiedNameProblems(key).map((text) => invalid(`${at}.key`, key, text)));
    return [
      ...problems,
      ...values.flatMap((value, place) => labelValueProblems(value).map((text) => invalid(`${at}.values[${place}]`, value, text))),
    ];
  });
  return [...validateLabels(selector.matchLabels, `${field}.matchLabels`), ...expressions];
}
