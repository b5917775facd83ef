import { type FieldProblem, forbidden, notSupported, required, tooMany } from '#api/field-problem.ts';
import type {
  AllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '#api/types/resource-v1.ts';
import { validateImmutable } from '../immutable.ts';
import { validateNodeSelector } from '../pod/affinity.ts';
import { validateDriverName } from '../storage/names.ts';
import { requestNames, requestsMax, validateConfiguration, validateRequestName, validateRequestNames, validateToleration } from './claim.ts';
import { validateLabelName, validatePoolName, validateSet } from './names.ts';

const reservedMax = 256;
const resultsMax = 32;
const sources = ['FromClaim', 'FromClass'];

/** Who has which devices. What was allocated stays until all is given back. */
export function validateResourceClaimStatus(next: ResourceClaim, previous: ResourceClaim): readonly FieldProblem[] {
  const { allocation, reservedFor = [] } = next.status ?? {};
  const before = previous.status?.allocation;
  return [
    ...validateSet(reservedFor, reservedMax, ({ uid }) => uid, validateConsumer, 'status.reservedFor'),
    ...validateReservations(next.status ?? {}, previous.status ?? {}, next.metadata.deletionTimestamp !== undefined),
    ...(allocation !== undefined && before !== undefined ? validateImmutable(allocation, before, 'status.allocation') : []),
    ...(allocation !== undefined && before === undefined
      ? validateAllocation(allocation, requestNames(next.spec.devices ?? {}), 'status.allocation')
      : []),
  ];
}

function validateConsumer(consumer: ResourceClaimConsumerReference, field: string): readonly FieldProblem[] {
  return (['resource', 'name', 'uid'] as const).flatMap((key) => ((consumer[key] ?? '') === '' ? [required(`${field}.${key}`)] : []));
}

function validateReservations(next: ResourceClaimStatus, previous: ResourceClaimStatus, isDeleting: boolean): readonly FieldProblem[] {
  const { allocation, reservedFor = [] } = next;
  const at = 'status.reservedFor';
  if (reservedFor.length === 0) return [];
  if (allocation === undefined) return [forbidden(at, 'may not be specified when `allocated` is not set')];
  const known = new Set((previous.reservedFor ?? []).map(({ uid }) => uid));
  if (!isDeleting || reservedFor.every(({ uid }) => known.has(uid))) return [];
  return [forbidden(at, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set')];
}

function validateAllocation({ devices = {}, nodeSelector }: AllocationResult, names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  const { results = [], config = [] } = devices;
  const at = `${field}.devices`;
  return [
    ...(results.length > resultsMax ? [tooMany(`${at}.results`, results.length, resultsMax)] : []),
    ...results.flatMap((result, index) => validateResult(result, names, `${at}.results[${index}]`)),
    ...(config.length > 2 * requestsMax ? [tooMany(`${at}.config`, config.length, 2 * requestsMax)] : []),
    ...config.flatMap((one, index) => {
      const place = `${at}.config[${index}]`;
      const { source = '' } = one;
      return [
        ...(source === '' ? [required(`${place}.source`)] : sources.includes(source) ? [] : [notSupported(`${place}.source`, source, sources)]),
        ...validateRequestNames(one.requests ?? [], names, `${place}.requests`),
        ...validateConfiguration(one, place),
      ];
    }),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${field}.nodeSelector`)),
  ];
}

function validateResult(result: DeviceRequestAllocationResult, names: ReadonlySet<string>, field: string): readonly FieldProblem[] {
  return [
    ...validateRequestName(result.request ?? '', names, `${field}.request`),
    ...validateDriverName(result.driver ?? '', `${field}.driver`),
    ...validatePoolName(result.pool ?? '', `${field}.pool`),
    ...validateLabelName(result.device ?? '', `${field}.device`),
    ...(result.tolerations ?? []).flatMap((toleration, index) => validateToleration(toleration, `${field}.tolerations[${index}]`)),
  ];
}
