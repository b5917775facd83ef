import type { Pod } from '#api/types/core-v1.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { chooseContainer } from './container-choice.ts';
import type { KubeletAccess } from './kubelet-location.ts';
import { type KubeletStream, kubeletStreams, podStreamRoute } from './pod-stream.ts';

/** `pods/attach` */
export function attachRoute(access: KubeletAccess, context: RouteContext): Route {
  return podStreamRoute('attach', attachStream, access, context);
}

export function attachStream(pod: Pod, asked: URLSearchParams): KubeletStream {
  const container = chooseContainer(pod, asked.get('container') ?? '');
  return { segments: ['attach', pod.metadata.namespace ?? '', pod.metadata.name, container], query: kubeletStreams(asked) };
}
