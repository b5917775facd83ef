import type { Pod } from '#api/types/core-v1.ts';

/** Priorities from here on are the system's own. */
const SYSTEM_PRIORITY = 2_000_000_000;
const SOURCE = 'kubernetes.io/config.source';
const MIRROR = 'kubernetes.io/config.mirror';

/** A static, a mirror or a system pod: the node does not work without it. */
export function isCritical(pod: Pick<Pod, 'metadata' | 'spec'>): boolean {
  return isStatic(pod) || pod.metadata.annotations?.[MIRROR] !== undefined || (pod.spec?.priority ?? 0) >= SYSTEM_PRIORITY;
}

/** From a file or a URL of the node, not from the API. */
export function isStatic(pod: Pick<Pod, 'metadata'>): boolean {
  const source = pod.metadata.annotations?.[SOURCE];
  return source !== undefined && source !== 'api';
}
