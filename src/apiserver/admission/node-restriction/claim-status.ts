import { semanticEqual } from '#api/deep-equal.ts';
import { quote } from '#api/quote.ts';
import type { PersistentVolumeClaim } from '#api/types/core-v1.ts';
import type { AdmissionRequest } from '../admission.ts';
import { refuse } from './refuse.ts';

/** A node tells how far the growth of a volume is, and nothing else about its claim. */
export function checkClaimStatus(node: string, request: AdmissionRequest): void {
  if (request.subresource !== 'status') refuse(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') refuse(request, `unexpected operation ${quote(request.operation)}`);
  const [next, previous] = [fixedPart(request.object), fixedPart(request.previous ?? request.object)];
  if (semanticEqual(next, previous)) return;
  const changed = [...new Set([...Object.keys(next), ...Object.keys(previous)])].filter((field) => !semanticEqual(next[field], previous[field]));
  refuse(request, `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`);
}

function fixedPart(object: object): Readonly<Record<string, unknown>> {
  const { metadata, status, ...rest } = object as PersistentVolumeClaim; // the schema has read it
  const { resourceVersion: _, managedFields: _managedFields, ...kept } = metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _resources,
    allocatedResourceStatuses: _statuses,
    ...other
  } = status ?? {};
  return { ...rest, metadata: kept, status: other };
}
