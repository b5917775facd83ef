import { parseCidr, parseIp, rangeContains } from '#api/ip-address.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { badRequest, notFound } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { ProxyTarget } from '#wire/http/proxy.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { namesOf } from './kubelet-location.ts';
import { backendUrl, type ProxyName, proxyRoute } from './proxy.ts';

/** `pods/proxy`: what a pod serves. */
export function podProxyRoute(context: RouteContext): Route {
  return proxyRoute(
    'pods',
    ({ objects }, request, asked) => {
      const pod = objects.get(podKind, namesOf(request).namespace, asked.name);
      if (pod === undefined) throw notFound(podKind, asked.name);
      return podTarget(pod, asked);
    },
    context,
  );
}

/** Pure; without a port that of the first container that tells one. @throws a 400 `StatusError` when the pod has no address to be reached at */
export function podTarget(pod: Pod, { scheme, port }: ProxyName): ProxyTarget {
  const address = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '';
  if (!isReachable(address)) throw badRequest('address not allowed');
  const first = pod.spec?.containers.flatMap(({ ports = [] }) => ports)[0]?.containerPort ?? '';
  return { url: backendUrl(scheme, address, port === '' ? first : port) };
}

/** Upstream's rule: an address of one host in a network, not of this very host. */
export function isReachable(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && !special().some((range) => rangeContains(range, address));
}

const specialRanges = ['0.0.0.0/32', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32', '::/127', 'fe80::/10', 'ff00::/8'];
const special = () => specialRanges.flatMap((text) => parseCidr(text) ?? []);
