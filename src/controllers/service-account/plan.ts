import type { Namespace } from '#api/types/core-v1.ts';

export const DEFAULT_SERVICE_ACCOUNT = 'default';

/** Whether a namespace is to have a service account that pods get when they name none. */
export function needsServiceAccount(namespace: Namespace | undefined): namespace is Namespace {
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined && namespace.status?.phase !== 'Terminating';
}
