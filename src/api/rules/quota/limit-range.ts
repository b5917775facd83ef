import { duplicate, type FieldProblem, forbidden, invalid, required } from '#api/field-problem.ts';
import { compareQuantities, parseQuantity } from '#api/quantity.ts';
import type { LimitRangeItem } from '#api/types/core-v1.ts';
import { findDuplicates } from '../checks.ts';
import { qualifiedNameProblems } from '../names.ts';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from './resource-names.ts';

const standardTypes = ['Container', 'Pod', 'PersistentVolumeClaim'];
const nanosOfOne = 1_000_000_000;

export function validateLimits(limits: readonly LimitRangeItem[], field: string): readonly FieldProblem[] {
  return [
    ...limits.flatMap((item, index) => validateItem(item, `${field}[${index}]`)),
    ...findDuplicates(
      limits,
      ({ type }) => type,
      ({ type }, index) => duplicate(`${field}[${index}].type`, type),
    ),
  ];
}

function validateItem(item: LimitRangeItem, field: string): readonly FieldProblem[] {
  const { type = '', max = {}, min = {}, default: limits = {}, defaultRequest: requests = {}, maxLimitRequestRatio = {} } = item;
  const isPod = type === 'Pod';
  const rule = isPod || type === 'Container' ? validateContainerResourceName : validateResourceName;
  const names = (list: object, key: string) => Object.keys(list).flatMap((name) => rule(name, `${field}.${key}[${name}]`));
  const unused = (list: object, key: string) =>
    Object.keys(list).length === 0 ? [] : [forbidden(`${field}.${key}`, "may not be specified when `type` is 'Pod'")];
  const isBoundless = type === 'PersistentVolumeClaim' && min['storage'] === undefined && max['storage'] === undefined;
  const missing = 'either minimum or maximum storage value is required, but neither was provided';
  const resources = [...new Set([max, min, limits, requests, maxLimitRequestRatio].flatMap((list) => Object.keys(list)))].sort();
  return [
    ...validateType(type, `${field}.type`),
    ...names(max, 'max'),
    ...names(min, 'min'),
    ...(isPod ? [...unused(limits, 'default'), ...unused(requests, 'defaultRequest')] : []),
    ...(isPod ? [] : [...names(limits, 'default'), ...names(requests, 'defaultRequest')]),
    ...(isBoundless ? [required(`${field}.limits`, missing)] : []),
    ...names(maxLimitRequestRatio, 'maxLimitRequestRatio'),
    ...resources.flatMap((name) => [...validateOrder(item, name, field), ...validateRatio(item, name, field)]),
  ];
}

function validateType(type: string, field: string): readonly FieldProblem[] {
  const problems = qualifiedNameProblems(type).map((text) => invalid(field, type, text));
  if (problems.length > 0 || type.includes('/') || standardTypes.includes(type)) return problems;
  return [invalid(field, type, 'must be a standard limit type or fully qualified')];
}

/** min ≤ defaultRequest ≤ default ≤ max, as far as they are given. */
function validateOrder(item: LimitRangeItem, name: string, field: string): readonly FieldProblem[] {
  const [max, min, limit, request] = [item.max?.[name], item.min?.[name], item.default?.[name], item.defaultRequest?.[name]];
  const isAbove = (a: string | undefined, b: string | undefined) => a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
  const problems: FieldProblem[] = [];
  const at = (key: string) => `${field}.${key}[${name}]`;
  if (isAbove(min, max)) problems.push(invalid(at('min'), min, `min value ${min} is greater than max value ${max}`));
  if (isAbove(min, request)) {
    problems.push(invalid(at('defaultRequest'), request, `min value ${min} is greater than default request value ${request}`));
  }
  if (isAbove(request, max)) {
    problems.push(invalid(at('defaultRequest'), request, `default request value ${request} is greater than max value ${max}`));
  }
  if (isAbove(request, limit)) {
    problems.push(invalid(at('defaultRequest'), request, `default request value ${request} is greater than default limit value ${limit}`));
  }
  if (isAbove(min, limit)) problems.push(invalid(at('default'), min, `min value ${min} is greater than default value ${limit}`));
  if (isAbove(limit, max)) problems.push(invalid(at('default'), max, `default value ${limit} is greater than max value ${max}`));
  if (!isOvercommitAllowed(name) && limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0) {
    problems.push(invalid(at('defaultRequest'), request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`));
  }
  return problems;
}

function validateRatio(item: LimitRangeItem, name: string, field: string): readonly FieldProblem[] {
  const [ratio, max, min] = [item.maxLimitRequestRatio?.[name], item.max?.[name], item.min?.[name]];
  if (ratio === undefined) return [];
  const at = `${field}.maxLimitRequestRatio[${name}]`;
  const problems = compareQuantities(ratio, '1') < 0 ? [invalid(at, ratio, `ratio ${ratio} is less than 1`)] : [];
  if (max === undefined || min === undefined) return problems;
  const largest = Number(parseQuantity(max).nanos) / Number(parseQuantity(min).nanos);
  const isTooLarge = Number(parseQuantity(ratio).nanos) / nanosOfOne > largest;
  return isTooLarge ? [...problems, invalid(at, ratio, `ratio ${ratio} is greater than max/min = ${largest.toFixed(6)}`)] : problems;
}
