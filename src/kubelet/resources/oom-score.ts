import { qosClass } from '#api/pod/qos.ts';
import { aggregateRequests, resourcesOf } from '#api/pod/requests.ts';
import { isSidecar } from '#api/pod/sidecars.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { isCritical } from './critical.ts';

const GUARANTEED = -997;
const BEST_EFFORT = 1000;

/**
 * How gladly the kernel kills a container's processes when memory runs out, -1000..1000. A Burstable one the less, the larger a share of the
 * node's memory it asked for.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isCritical(pod) && pod.spec?.priorityClassName === 'system-node-critical') return GUARANTEED;
  const qos = qosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED;
  if (qos === 'BestEffort' || pod.spec === undefined) return BEST_EFFORT;
  const share = podLevelShare(pod);
  const scoreOf = (requestBytes: number) => 1000 - Math.trunc((1000 * (requestBytes + share)) / memoryCapacityBytes);
  const own = scoreOf(memoryRequest(container));
  // A sidecar must not be killed before the container that it serves.
  const score = isSidecar(container) ? Math.min(own, scoreOf(Math.min(...pod.spec.containers.map(memoryRequest)))) : own;
  return score < 3 ? 3 : score === BEST_EFFORT ? BEST_EFFORT - 1 : score;
}

/** What the pod asks for beyond its containers, in equal parts. */
function podLevelShare({ spec }: Pod): number {
  const requested = resourcesOf(spec?.resources?.requests).get('memory') ?? 0;
  if (spec === undefined || requested === 0) return 0;
  return Math.trunc((requested - (aggregateRequests(spec).get('memory') ?? 0)) / (spec.containers.length + (spec.initContainers?.length ?? 0)));
}

function memoryRequest(container: Container): number {
  return resourcesOf(container.resources?.requests).get('memory') ?? 0;
}
