import { type FieldProblem, forbidden, invalid, notSupported, required, tooLong, tooMany } from '#api/field-problem.ts';
import type { Device, DeviceAttribute, DeviceCounterConsumption, DeviceTaint } from '#api/types/resource-v1.ts';
import { byteLength } from '../checks.ts';
import { labelValueProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts';
import { validateNodeSelector } from '../pod/affinity.ts';
import { validateLabelName, validateQualifiedName, validateSet } from './names.ts';

const attributesMax = 32;
const taintsMax = 16;
const consumptionsMax = 2;
const attributeMaxBytes = 64;
const effects = ['NoExecute', 'NoSchedule', 'None'];
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

/** @param hasOwnPlace whether each device says for itself on which nodes it is */
export function validateDevice(device: Device, hasOwnPlace: boolean, field: string): readonly FieldProblem[] {
  const { attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device;
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  return [
    ...validateLabelName(device.name ?? '', `${field}.name`),
    ...(count > attributesMax ? [invalid(field, count, `the total number of attributes and capacities must not exceed ${attributesMax}`)] : []),
    ...Object.entries(attributes).flatMap(([name, attribute]) => [
      ...validateQualifiedName(name, `${field}.attributes`, false),
      ...validateAttribute(attribute, `${field}.attributes[${name}]`),
    ]),
    ...Object.entries(capacity).flatMap(([name, { requestPolicy }]) => [
      ...validateQualifiedName(name, `${field}.capacity`, false),
      ...(requestPolicy === undefined || device.allowMultipleAllocations === true
        ? []
        : [forbidden(`${field}.capacity[${name}].requestPolicy`, 'allowMultipleAllocations must be true')]),
    ]),
    ...(taints.length > taintsMax ? [tooMany(`${field}.taints`, taints.length, taintsMax)] : []),
    ...taints.flatMap((taint, index) => validateTaint(taint, `${field}.taints[${index}]`)),
    ...validateSet(consumesCounters, consumptionsMax, ({ counterSet }) => counterSet, validateConsumption, `${field}.consumesCounters`),
    ...validatePlace(device, hasOwnPlace, field),
  ];
}

function validateAttribute(attribute: DeviceAttribute, field: string): readonly FieldProblem[] {
  const given = Object.values(attribute).filter((value) => value !== undefined);
  const { string = '', version, strings = [], versions = [] } = attribute;
  const texts: readonly (readonly [string, string])[] = [
    [string, `${field}.string`],
    ...strings.map((text, index) => [text, `${field}.strings[${index}]`] as const),
  ];
  const numbers: readonly (readonly [string, string])[] = [
    ...(version === undefined ? [] : [[version, `${field}.version`] as const]),
    ...versions.map((text, index) => [text, `${field}.versions[${index}]`] as const),
  ];
  return [
    ...[...texts, ...numbers].flatMap(([text, at]) => (byteLength(text) > attributeMaxBytes ? [tooLong(at, attributeMaxBytes)] : [])),
    ...numbers.flatMap(([text, at]) => (semver.test(text) ? [] : [invalid(at, text, 'must be a string compatible with semver.org spec 2.0.0')])),
    ...(given.length === 1 ? [] : [invalid(field, given.length === 0 ? '' : attribute, 'exactly one value must be specified')]),
  ];
}

function validateTaint({ key = '', value = '', effect = '' }: DeviceTaint, field: string): readonly FieldProblem[] {
  return [
    ...qualifiedNameProblems(key).map((text) => invalid(`${field}.key`, key, text)),
    ...labelValueProblems(value).map((text) => invalid(`${field}.value`, value, text)),
    ...(effect === '' ? [required(`${field}.effect`)] : effects.includes(effect) ? [] : [notSupported(`${field}.effect`, effect, effects)]),
  ];
}

function validateConsumption({ counterSet = '', counters = {} }: DeviceCounterConsumption, field: string): readonly FieldProblem[] {
  return [
    ...(counterSet === '' ? [required(`${field}.counterSet`)] : validateLabelName(counterSet, `${field}.counterSet`)),
    ...(Object.keys(counters).length === 0 ? [required(`${field}.counters`)] : []),
  ];
}

function validatePlace({ nodeName, nodeSelector, allNodes }: Device, hasOwnPlace: boolean, field: string): readonly FieldProblem[] {
  const given = [nodeName, nodeSelector, allNodes].filter((value) => value !== undefined);
  if (!hasOwnPlace) {
    const detail = '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    return given.length === 0 ? [] : [invalid(field, undefined, detail)];
  }
  const one =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  const named = Object.entries({ nodeName, nodeSelector, allNodes }).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return [
    ...(nodeName === '' ? [invalid(`${field}.nodeName`, nodeName, 'must not be empty')] : []),
    ...(nodeName === undefined || nodeName === '' ? [] : subdomainProblems(nodeName).map((text) => invalid(`${field}.nodeName`, nodeName, text))),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${field}.nodeSelector`)),
    ...(allNodes === false ? [invalid(`${field}.allNodes`, false, 'must be either unset or set to true')] : []),
    ...(named.length === 0 ? [required(field, one)] : []),
    ...(named.length > 1 ? [invalid(field, `{${named.map(([name]) => `\`${name}\``).join(', ')}}`, one)] : []),
  ];
}
