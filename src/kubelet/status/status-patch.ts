import type { PodCondition, PodStatus } from '#api/types/core-v1.ts';

/** Strategic merge patch of a pod's status: the fields that differ, and of the conditions those that differ. */
export type StatusPatch = { readonly metadata: { readonly uid: string }; readonly status: Readonly<Record<string, unknown>> };

/** Fields that the kubelet owns; a field of these that is wanted no more is removed. */
const owned = [
  'phase',
  'reason',
  'message',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'qosClass',
  'resources',
  'allocatedResources',
] as const;

/** Conditions of the kubelet that are there only as long as they are true. */
const passing: ReadonlySet<string> = new Set(['PodResizePending', 'PodResizeInProgress']);

/**
 * @param known what the API server has, as far as we know
 * @returns `undefined` when there is nothing to tell
 */
export function statusPatch(uid: string, known: PodStatus | undefined, wanted: PodStatus): StatusPatch | undefined {
  const status: Record<string, unknown> = {};
  for (const field of owned) {
    if (same(known?.[field], wanted[field])) continue;
    status[field] = wanted[field] ?? null;
    if (field === 'podIPs' || field === 'hostIPs') status[field] = mergedByAddress(known?.[field], wanted[field]);
    // An amount that is wanted no more would stay.
    if ((field === 'resources' || field === 'allocatedResources') && known?.[field] !== undefined && wanted[field] !== undefined) {
      status[field] = { $patch: 'replace', ...wanted[field] };
    }
  }
  const isNewer = (wanted.observedGeneration ?? 0) > (known?.observedGeneration ?? 0); // what was observed once stays observed
  if (isNewer) status['observedGeneration'] = wanted.observedGeneration;
  const changed: object[] = (wanted.conditions ?? []).flatMap((condition) => changedCondition(known?.conditions, condition, isNewer) ?? []);
  for (const { type } of known?.conditions ?? []) {
    if (passing.has(type) && !(wanted.conditions ?? []).some((one) => one.type === type)) changed.push({ type, $patch: 'delete' });
  }
  if (changed.length > 0) status['conditions'] = changed;
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid }, status };
}

type Addresses = readonly { readonly ip: string }[];

/** These lists merge by address: without the directive an address that is gone would stay. */
function mergedByAddress(known: Addresses | undefined, wanted: Addresses | undefined): unknown {
  if (wanted === undefined) return null;
  return (known ?? []).length === 0 ? wanted : [{ $patch: 'replace' }, ...wanted];
}

/** Conditions merge by type, so what is wanted no more of one has to be taken back. */
function changedCondition(known: readonly PodCondition[] | undefined, wanted: PodCondition, isNewer: boolean): object | undefined {
  const before = known?.find(({ type }) => type === wanted.type);
  if (before === undefined) return wanted;
  const told = ['status', 'reason', 'message', ...(isNewer ? (['observedGeneration'] as const) : [])] as const; // a generation alone waits for the pod's
  if (told.every((field) => before[field] === wanted[field])) return undefined;
  const dropped = (['reason', 'message'] as const).filter((field) => before[field] !== undefined && wanted[field] === undefined);
  return { ...wanted, ...Object.fromEntries(dropped.map((field) => [field, null])) };
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => same(Reflect.get(a, key), Reflect.get(b, key)));
}

/** The API drops what is empty, so it is as good as absent. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (typeof value === 'object' && Object.values(value).every(isEmpty));
}
