import type { RouteFactory } from '../request/route.ts';
import { attachRoute } from './attach.ts';
import { execRoute } from './exec.ts';
import type { KubeletAccess } from './kubelet-location.ts';
import { logRoute } from './log.ts';
import { nodeProxyRoute } from './node-proxy.ts';
import { podProxyRoute } from './pod-proxy.ts';
import { portForwardRoute } from './port-forward.ts';
import { serviceProxyRoute } from './service-proxy.ts';

/** Every endpoint that is served by a node's kubelet, by a pod or by what is behind a service. */
export function streamingRoutes(access: KubeletAccess): RouteFactory {
  return (context) => [
    ...[logRoute, execRoute, attachRoute, portForwardRoute, nodeProxyRoute].map((route) => route(access, context)),
    podProxyRoute(context),
    serviceProxyRoute(context),
  ];
}
