import { parseQuantity } from '#api/quantity.ts';
import type { Container, Pod, ResourceFieldSelector } from '#api/types/core-v1.ts';

/**
 * A request or limit of a container in units of the divisor, rounded up. A limit that is not set is what the node can give.
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
  const own = list === 'limits' ? named?.resources?.limits?.[resource] : named?.resources?.requests?.[resource];
  const amount = parseQuantity(own ?? (list === 'limits' ? (allocatable[resource] ?? '0') : '0')).nanos;
  const divisor = parseQuantity(selector.divisor === undefined || selector.divisor === '0' ? '1' : selector.divisor).nanos;
  return String((amount + divisor - 1n) / divisor);
}

function splitOnce(text: string): readonly [string, string] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)];
}
