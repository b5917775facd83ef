import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import type { CounterSet, ResourcePool, ResourceSlice, ResourceSliceSpec } from '#api/types/resource-v1.ts';
import { validateImmutable } from '../immutable.ts';
import { subdomainProblems } from '../names.ts';
import { validateNodeSelector } from '../pod/affinity.ts';
import { validateDriverName } from '../storage/names.ts';
import { validateDevice } from './device.ts';
import { validateLabelName, validatePoolName, validateSet } from './names.ts';

const devicesMax = 128;
const costlyDevicesMax = 64;
const counterSetsMax = 8;

export function validateResourceSlice({ spec }: ResourceSlice): readonly FieldProblem[] {
  const { devices, sharedCounters, perDeviceNodeSelection } = spec ?? {};
  const isCostly = (devices ?? []).some(({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0);
  return [
    ...validateDriverName(spec?.driver ?? '', 'spec.driver'),
    ...validatePool(spec?.pool ?? {}, 'spec.pool'),
    ...validatePlace(spec ?? {}, 'spec'),
    ...(devices !== undefined && sharedCounters !== undefined ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')] : []),
    ...validateSet(
      devices ?? [],
      isCostly ? costlyDevicesMax : devicesMax,
      ({ name }) => name,
      (device, at) => validateDevice(device, perDeviceNodeSelection === true, at),
      'spec.devices',
    ),
    ...validateSet(sharedCounters ?? [], counterSetsMax, ({ name }) => name, validateCounterSet, 'spec.sharedCounters'),
  ];
}

/** Whose devices they are, and where. */
export function validateResourceSliceUpdate({ spec: next }: ResourceSlice, { spec: previous }: ResourceSlice): readonly FieldProblem[] {
  return [
    ...validateImmutable(next.pool.name, previous.pool.name, 'spec.pool.name'),
    ...validateImmutable(next.driver, previous.driver, 'spec.driver'),
    ...validateImmutable(next.nodeName, previous.nodeName, 'spec.nodeName'),
  ];
}

function validatePool({ name = '', resourceSliceCount: count = 0, generation = 0 }: Partial<ResourcePool>, field: string): readonly FieldProblem[] {
  return [
    ...validatePoolName(name, `${field}.name`),
    ...(count <= 0 ? [invalid(`${field}.resourceSliceCount`, count, 'must be greater than zero')] : []),
    ...(generation < 0 ? [invalid(`${field}.generation`, generation, 'must be greater than or equal to zero')] : []),
  ];
}

/** For which nodes the devices are: said in one way of four. */
function validatePlace(spec: Partial<ResourceSliceSpec>, field: string): readonly FieldProblem[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec;
  const problems: FieldProblem[] = [];
  const set: string[] = [];
  if (nodeName === '') problems.push(invalid(`${field}.nodeName`, nodeName, 'must be either unset or set to a non-empty string'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    problems.push(...subdomainProblems(nodeName).map((text) => invalid(`${field}.nodeName`, nodeName, text)));
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`');
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    const at = `${field}.nodeSelector`;
    problems.push(...validateNodeSelector(nodeSelector, at));
    if (terms.length !== 1) problems.push(invalid(`${at}.nodeSelectorTerms`, terms, 'must have exactly one node selector term'));
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) set.push(`\`${name}\``);
    else if (value === false) problems.push(invalid(`${field}.${name}`, false, 'must be either unset or set to true'));
  }
  const one = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (set.length === 0) problems.push(required(field, one));
  if (set.length > 1) problems.push(invalid(field, `{${set.join(', ')}}`, `${one}, but multiple fields are set`));
  return problems;
}

function validateCounterSet({ name = '', counters = {} }: CounterSet, field: string): readonly FieldProblem[] {
  return [
    ...(name === '' ? [required(`${field}.name`)] : validateLabelName(name, `${field}.name`)),
    ...(Object.keys(counters).length === 0 ? [required(`${field}.counters`)] : []),
    ...Object.keys(counters).flatMap((key) => validateLabelName(key, `${field}.counters`)),
  ];
}
