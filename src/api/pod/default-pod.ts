import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import { formatQuantity, quantityOf, quantityOfMilli } from '#api/quantity.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '#api/types/core-v1.ts';
import { defaultContainer } from './default-container.ts';
import { defaultVolume } from './default-volume.ts';
import { aggregateRequests, isPodLevelResource } from './requests.ts';

/** A pod with everything written out that its author left to the server. */
export function defaultPod(pod: Pod): Pod {
  const spec = pod.spec ?? { containers: [] };
  const defaulted = changePart(defaultPodResources(defaultPodSpec(spec)), 'terminationGracePeriodSeconds', (seconds) => (seconds < 0 ? 1 : seconds));
  return defaulted === pod.spec ? pod : { ...pod, spec: defaulted };
}

/** Also of a pod's template; requests are derived from limits in pods only. */
export function defaultPodSpec(spec: PodSpec): PodSpec {
  const isHostNetwork = spec.hostNetwork === true;
  let result = fill<PodSpec>(spec, {
    containers: [], // a client may leave out what the type has; the rules say so to it
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    enableServiceLinks: true,
  });
  result = sameServiceAccount(result);
  for (const key of ['containers', 'initContainers'] as const) {
    result = changePart(result, key, (list) => changeItems(list, (container) => defaultContainer(container, isHostNetwork)));
  }
  result = changePart(result, 'ephemeralContainers', (list) => changeItems(list, (container) => defaultContainer(container, false)));
  return changePart(result, 'volumes', (volumes) => changeItems(volumes, defaultVolume));
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are always written. */
function sameServiceAccount(spec: PodSpec): PodSpec {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (name === undefined || (spec.serviceAccountName === name && spec.serviceAccount === name)) return spec;
  return { ...spec, serviceAccountName: name, serviceAccount: name };
}

function defaultPodResources(spec: PodSpec): PodSpec {
  let result = spec;
  for (const key of ['containers', 'initContainers'] as const) {
    result = changePart(result, key, (list) =>
      changeItems(list, (container: Container) => changePart(container, 'resources', (resources) => requestsFrom(resources, resources.limits))),
    );
  }
  return changePart(result, 'resources', (resources) => {
    const limits = Object.keys(resources.limits ?? {}).filter(isPodLevelResource);
    const aggregate = [...aggregateRequests(result)].filter(([name, amount]) => limits.includes(name) && amount > 0);
    const texts = aggregate.map(([name, amount]) => [name, quantityText(name, amount)] as const);
    return requestsFrom(requestsFrom(resources, Object.fromEntries(texts)), resources.limits);
  });
}

/** The resources with a request for each resource that has a value in `source` and no request yet. */
function requestsFrom(resources: ResourceRequirements, source: Readonly<Record<string, string>> | undefined): ResourceRequirements {
  const requests = resources.requests ?? {};
  const missing = Object.entries(source ?? {}).filter(([name]) => requests[name] === undefined);
  return missing.length === 0 ? resources : { ...resources, requests: { ...requests, ...Object.fromEntries(missing) } };
}

function quantityText(name: string, amount: number): string {
  return formatQuantity(name === 'cpu' ? quantityOfMilli(amount) : quantityOf(amount, 'BinarySI'));
}
