import { canonicalQuantity, formatQuantity, parseQuantity, quantityOf } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import type { PodUsage } from '../ports/stats.ts';
import { type Observations, type Signal, type StarvedResource, signals } from './signals.ts';
import { printValue, type Threshold } from './thresholds.ts';

/** Why a pod is evicted, for people and, in the annotations of the event, for programs. */
export interface EvictionNote {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** @param met what holds now, in the order in which it was looked at */
export function evictionNote(
  pod: Pod,
  usage: PodUsage | undefined,
  signal: Signal,
  met: readonly Threshold[],
  observations: Observations,
): EvictionNote {
  const { resource } = signals[signal];
  const ofPod = usage === undefined ? undefined : podOverRequest(pod, usage, resource);
  const over = usage === undefined ? [] : containersOverRequest(pod, usage, resource);
  const consumption = (what: string, used: string, request: string) =>
    `${what} was using ${used}, request is ${request}, has larger consumption of ${resource}. `;
  const message = [
    `The node was low on resource: ${resource}. `,
    thresholdText(resource, met, observations),
    ...(ofPod === undefined ? [] : [consumption(`Pod ${pod.metadata.name}`, ofPod.used, ofPod.request)]),
    ...over.map(({ name, used, request }) => consumption(`Container ${name}`, used, request)),
  ].join('');
  return {
    message,
    annotations: {
      offending_containers: over.map(({ name }) => name).join(','),
      offending_containers_usage: over.map(({ used }) => used).join(','),
      starved_resource: resource,
      ...(ofPod === undefined ? {} : { offending_pod: pod.metadata.name, offending_pod_usage: ofPod.used }),
    },
  };
}

function thresholdText(resource: StarvedResource, met: readonly Threshold[], observations: Observations): string {
  for (const { signal, value } of met) {
    const observed = observations.get(signal);
    if (signals[signal].resource !== resource || observed === undefined) continue;
    const available = formatQuantity(quantityOf(Math.trunc(observed.available), signals[signal].format));
    return `Threshold quantity: ${printValue(value, observed.capacity)}, available: ${available}. `;
  }
  return '';
}

interface Over {
  readonly used: string;
  readonly request: string;
}

/** Only a pod that asks for memory as a whole is told as a whole. */
function podOverRequest(pod: Pod, usage: PodUsage, resource: StarvedResource): Over | undefined {
  const request = pod.spec?.resources?.requests?.[resource];
  return resource === 'memory' && request !== undefined ? overRequest(usage.memory.workingSetBytes, request) : undefined;
}

function containersOverRequest(pod: Pod, usage: PodUsage, resource: StarvedResource): readonly (Over & { readonly name: string })[] {
  const containers: readonly Container[] = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return containers.flatMap(({ name, resources }) => {
    const found = usage.containers.find((one) => one.name === name);
    if (found === undefined) return [];
    const used =
      resource === 'memory'
        ? found.memory.workingSetBytes
        : resource === 'ephemeral-storage'
          ? (found.rootFs.usedBytes ?? 0) + (found.logs.usedBytes ?? 0)
          : undefined;
    const over = overRequest(used, resources?.requests?.[resource] ?? '0');
    return over === undefined ? [] : [{ name, ...over }];
  });
}

function overRequest(used: number | undefined, request: string): Over | undefined {
  if (used === undefined) return undefined;
  const quantity = quantityOf(Math.trunc(used), 'BinarySI');
  return quantity.nanos > parseQuantity(request).nanos ? { used: formatQuantity(quantity), request: canonicalQuantity(request) } : undefined;
}
