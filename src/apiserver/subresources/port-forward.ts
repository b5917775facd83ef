import type { Pod } from '#api/types/core-v1.ts';
import type { Route, RouteContext } from '../request/route.ts';
import type { KubeletAccess } from './kubelet-location.ts';
import { type KubeletStream, podStreamRoute } from './pod-stream.ts';

/** `pods/portforward` */
export function portForwardRoute(access: KubeletAccess, context: RouteContext): Route {
  return podStreamRoute('portforward', portForwardStream, access, context);
}

/** SPDY clients name the ports inside the stream; WebSocket clients name them here. */
export function portForwardStream(pod: Pod, asked: URLSearchParams): KubeletStream {
  const ports = asked.getAll('ports');
  const query = ports.length === 0 ? new URLSearchParams() : new URLSearchParams({ port: ports.join(',') });
  return { segments: ['portForward', pod.metadata.namespace ?? '', pod.metadata.name], query };
}
