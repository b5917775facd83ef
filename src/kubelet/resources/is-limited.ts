import { resourcesOf } from '#api/pod/requests.ts';
import { isSidecar } from '#api/pod/sidecars.ts';
import type { PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';

/**
 * Whether the whole pod is bounded in this resource: each container is, or the pod itself. An init container counts with the sidecars that
 * run beside it, so a sidecar's limit covers those after it.
 */
export function isLimited(spec: PodSpec, resource: 'cpu' | 'memory'): boolean {
  const limitOf = (resources: ResourceRequirements | undefined) => resourcesOf(resources?.limits).get(resource) ?? 0;
  if (limitOf(spec.resources) > 0) return true;
  let sidecars = 0;
  for (const container of spec.initContainers ?? []) {
    const own = limitOf(container.resources) + sidecars;
    if (own === 0) return false;
    if (isSidecar(container)) sidecars = own;
  }
  return spec.containers.every((container) => limitOf(container.resources) > 0);
}
