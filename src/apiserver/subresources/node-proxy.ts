import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { badRequest, notFound } from '#api/status.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { type KubeletAccess, kubeletUrl } from './kubelet-location.ts';
import { proxyRoute } from './proxy.ts';

/** `nodes/proxy`: every page of a node's kubelet. */
export function nodeProxyRoute(access: KubeletAccess, context: RouteContext): Route {
  return proxyRoute(
    'nodes',
    ({ objects }, _request, { scheme, name, port }) => {
      if (!/^\d*$/.test(port)) throw badRequest(`invalid node request ${JSON.stringify(`${name}:${port}`)}`);
      const node = objects.get(nodeKind, '', name);
      if (node === undefined) throw notFound(nodeKind, name);
      const url = kubeletUrl(node);
      // The certificate is for the kubelet alone: another port of the node is somebody else.
      if (port === '' || port === url.port) return { url, tls: access.tls };
      url.port = port;
      url.protocol = scheme === 'https' ? 'https:' : 'http:';
      return { url };
    },
    context,
  );
}
