import { type FieldProblem, invalid, notSupported, required, tooLong, tooMany } from '#api/field-problem.ts';
import type {
  DeviceClaim,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '#api/types/resource-v1.ts';
import { byteLength } from '../checks.ts';
import { labelValueProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import { validateDriverName } from '../storage/names.ts';
import { validateLabelName, validateQualifiedName, validateSet } from './names.ts';

export const requestsMax = 32;
const selectorsMax = 32;
const firstAvailableMax = 8;
const expressionMaxBytes = 10 * 1024;
const parametersMaxBytes = 10 * 1024;
const modes = ['All', 'ExactCount'];
const effects = ['NoExecute', 'NoSchedule', 'None'];
const operators = ['Equal', 'Exists'];

/** Expressions are not compiled here. */
export function validateResourceClaimSpec({ devices = {} }: ResourceClaimSpec, field: string): readonly FieldProblem[] {
  const { requests = [], constraints = [], config = [] } = devices;
  const at = `${field}.devices`;
  const names = requestNames(devices);
  return [
    ...validateSet(requests, requestsMax, ({ name }) => name, validateRequest, `${at}.requests`),
    ...(constraints.length > requestsMax ? [tooMany(`${at}.constraints`, constraints.length, requestsMax)] : []),
    ...constraints.flatMap((constraint, index) => validateConstraint(constraint, names, `${at}.constraints[${index}]`)),
    ...(config.length > requestsMax ? [tooMany(`${at}.config`, config.length, requestsMax)] : []),
    ...config.flatMap((one, index) => [
      ...validateRequestNames(one.requests ?? [], names, `${at}.config[${index}].requests`),
      ...validateConfiguration(one, `${at}.config[${index}]`),
    ]),
  ];
}

/** `request`, or `request/subrequest`. */
export function requestNames({ requests = [] }: DeviceClaim): ReadonlySet<string> {
  return new Set(requests.flatMap(({ name, firstAvailable = [] }) => [name, ...firstAvailable.map((inner) => `${name}/${inner.name}`)]));
}

export function validateRequestName(name: string, names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  const parts = name.split('/');
  const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  return [
    ...(parts.length > 2 ? [] : parts.flatMap((part) => validateLabelName(part, field))),
    ...(names.has(name) ? [] : [invalid(field, name, detail)]),
  ];
}

export function validateRequestNames(given: readonly string[], names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  return validateSet(
    given,
    requestsMax,
    (name) => name,
    (name, at) => validateRequestName(name, names, at),
    field,
  );
}

function validateRequest({ name = '', exactly, firstAvailable = [] }: DeviceRequest, field: string): readonly FieldProblem[] {
  const either = 'exactly one of `exactly` or `firstAvailable` is required';
  const named = validateLabelName(name, `${field}.name`);
  if (exactly !== undefined && firstAvailable.length > 0) return [...named, invalid(field, undefined, `${either}, but multiple fields are set`)];
  if (exactly !== undefined) return [...named, ...validateAmount(exactly, `${field}.exactly`)];
  if (firstAvailable.length === 0) return [...named, required(field, either)];
  const validate = (request: DeviceSubRequest, at: string) => [
    ...validateLabelName(request.name ?? '', `${at}.name`),
    ...validateAmount(request, at),
  ];
  return [...named, ...validateSet(firstAvailable, firstAvailableMax, (request) => request.name, validate, `${field}.firstAvailable`)];
}

function validateAmount(request: ExactDeviceRequest | DeviceSubRequest, field: string): readonly FieldProblem[] {
  const { deviceClassName: name = '', selectors = [], allocationMode: mode = '', count = 0, tolerations = [] } = request;
  const at = `${field}.count`;
  const problems: FieldProblem[] = name === '' ? [required(`${field}.deviceClassName`)] : [];
  if (name !== '') problems.push(...subdomainProblems(name).map((text) => invalid(`${field}.deviceClassName`, name, text)));
  problems.push(...validateSelectors(selectors, `${field}.selectors`));
  if (mode === 'All' && count !== 0) problems.push(invalid(at, count, "must not be specified when allocationMode is 'All'"));
  else if (mode === 'ExactCount' && count <= 0) problems.push(invalid(at, count, 'must be greater than zero'));
  else if (!modes.includes(mode)) problems.push(notSupported(`${field}.allocationMode`, mode, modes));
  return [...problems, ...tolerations.flatMap((toleration, index) => validateToleration(toleration, `${field}.tolerations[${index}]`))];
}

export function validateSelectors(selectors: readonly DeviceSelector[], field: string): readonly FieldProblem[] {
  return [
    ...(selectors.length > selectorsMax ? [tooMany(field, selectors.length, selectorsMax)] : []),
    ...selectors.flatMap(({ cel }, index) => {
      const at = `${field}[${index}].cel`;
      if (cel === undefined) return [required(at)];
      const expression = cel.expression ?? '';
      if (expression === '') return [required(`${at}.expression`)];
      return byteLength(expression) > expressionMaxBytes ? [tooLong(`${at}.expression`, expressionMaxBytes)] : [];
    }),
  ];
}

export function validateToleration(toleration: DeviceToleration, field: string): readonly FieldProblem[] {
  const { key = '', operator = '', value = '', effect } = toleration;
  const problems: FieldProblem[] = key === '' ? [] : qualifiedNameProblems(key).map((text) => invalid(`${field}.key`, key, text));
  if (key === '' && operator !== 'Exists') problems.push(required(`${field}.key`, 'operator must be `Exists` when `key` is empty'));
  if (operator === 'Exists' && value !== '') problems.push(invalid(`${field}.value`, value, 'must be empty for operator `Exists`'));
  if (operator === 'Equal') problems.push(...labelValueProblems(value).map((text) => invalid(`${field}.value`, value, text)));
  if (operator === '') problems.push(required(`${field}.operator`));
  else if (!operators.includes(operator)) problems.push(notSupported(`${field}.operator`, operator, operators));
  if (effect !== undefined && !effects.includes(effect)) problems.push(notSupported(`${field}.effect`, effect, effects));
  return problems;
}

function validateConstraint(constraint: DeviceConstraint, names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  const { requests = [], matchAttribute, distinctAttribute } = constraint;
  const named = validateRequestNames(requests, names, `${field}.requests`);
  if (matchAttribute !== undefined) return [...named, ...validateQualifiedName(matchAttribute, `${field}.matchAttribute`, true)];
  if (distinctAttribute !== undefined) return [...named, ...validateQualifiedName(distinctAttribute, `${field}.distinctAttribute`, true)];
  // Upstream's message says so, though none is set.
  const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...named, required(field, detail)];
}

export function validateConfiguration({ opaque }: DeviceConfiguration, field: string): readonly FieldProblem[] {
  if (opaque === undefined) return [required(`${field}.opaque`)];
  const { driver = '', parameters } = opaque;
  const at = `${field}.opaque.parameters`;
  const isTooLong = parameters !== undefined && byteLength(JSON.stringify(parameters)) > parametersMaxBytes;
  return [
    ...validateDriverName(driver, `${field}.opaque.driver`),
    ...(parameters === undefined ? [required(at)] : []),
    ...(isTooLong ? [tooLong(at, parametersMaxBytes)] : []),
  ];
}
