import { isPodLevelResource } from '#api/pod/requests.ts';
import { parseQuantity } from '#api/quantity.ts';
import type { Container, Pod, ResourceFieldSelector } from '#api/types/core-v1.ts';

/** What a container may use of these without a limit is what the pod, else the node, has. */
const withDefaultLimit = new Set(['cpu', 'memory', 'ephemeral-storage']);

/**
 * A request or limit of a container in units of the divisor, rounded up. A limit that is not set, or is 0, is the pod's, else what the node can give.
 */
export function resourceValue(
  selector: ResourceFieldSelector,
  pod: Pod,
  container: Container,
  allocatable: Readonly<Record<string, string>>,
): string {
  const { containerName } = selector;
  const named =
    containerName === undefined || containerName === container.name
      ? container
      : [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(({ name }) => name === containerName);
  const [list, resource] = splitOnce(selector.resource);
  const own = (list === 'limits' ? named?.resources?.limits : named?.resources?.requests)?.[resource] ?? '0';
  const isUnlimited = list === 'limits' && withDefaultLimit.has(resource) && parseQuantity(own).nanos === 0n;
  const ofPod = isPodLevelResource(resource) ? pod.spec?.resources?.limits?.[resource] : undefined;
  const amount = parseQuantity(isUnlimited ? (ofPod ?? allocatable[resource] ?? '0') : own).nanos;
  const divisor = parseQuantity(selector.divisor === undefined || selector.divisor === '0' ? '1' : selector.divisor).nanos;
  return String((amount + divisor - 1n) / divisor);
}

function splitOnce(text: string): readonly [string, string] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)];
}
