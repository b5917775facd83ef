import { isDeepStrictEqual } from 'node:util';
import type { NodeCondition, NodeStatus } from '#api/types/core-v1.ts';

/** Whether the two differ in more than the times of heartbeats. */
export function isSameStatus(a: NodeStatus, b: NodeStatus): boolean {
  return isDeepStrictEqual(plain(withoutHeartbeats(a)), plain(withoutHeartbeats(b)));
}

/** A strategic merge patch of the status subresource that makes `before` into `next`: the fields that changed, and every condition. */
export function statusPatch(before: NodeStatus, next: NodeStatus): object {
  const changed = Object.entries(next).filter(
    ([name, value]) => name !== 'conditions' && !isDeepStrictEqual(plain(value), plain(before[name as keyof NodeStatus])),
  );
  const status: Record<string, unknown> = {};
  for (const [name, value] of changed) status[name] = merged(name, before[name as keyof NodeStatus], value);
  return { status: { ...status, conditions: next.conditions ?? [] } };
}

/** Lists are merged by type and maps by name: what is no more must be said. */
function merged(name: string, before: unknown, value: unknown): unknown {
  if (name === 'addresses') return [{ $patch: 'replace' }, ...(value as readonly object[])];
  if (name !== 'capacity' && name !== 'allocatable') return value;
  const gone = Object.keys(before ?? {}).filter((resource) => !Object.hasOwn(value as object, resource));
  return { ...(value as object), ...Object.fromEntries(gone.map((resource) => [resource, null])) };
}

function withoutHeartbeats(status: NodeStatus): NodeStatus {
  const timeless = ({ lastHeartbeatTime: _, ...rest }: NodeCondition): NodeCondition => rest;
  const conditions = [...(status.conditions ?? [])].map(timeless).sort((a, b) => (a.type < b.type ? -1 : 1));
  return { ...status, conditions };
}

/** Without fields that are there and undefined: they are not sent. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
