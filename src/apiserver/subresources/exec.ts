import type { Pod } from '#api/types/core-v1.ts';
import type { Route, RouteContext } from '../request/route.ts';
import { chooseContainer } from './container-choice.ts';
import type { KubeletAccess } from './kubelet-location.ts';
import { type KubeletStream, kubeletStreams, podStreamRoute } from './pod-stream.ts';

/** `pods/exec` */
export function execRoute(access: KubeletAccess, context: RouteContext): Route {
  return podStreamRoute('exec', execStream, access, context);
}

export function execStream(pod: Pod, asked: URLSearchParams): KubeletStream {
  const container = chooseContainer(pod, asked.get('container') ?? '');
  const query = kubeletStreams(asked);
  for (const word of asked.getAll('command')) query.append('command', word);
  return { segments: ['exec', pod.metadata.namespace ?? '', pod.metadata.name, container], query };
}
