import type { Duplex } from 'node:stream';
import { badRequest, unnamedError } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { Unavailable } from '#base/errors.ts';
import type { ProxyTarget } from '#wire/http/proxy.ts';
import { ProtocolRefused, proxyUpgrade } from '#wire/http/upgrade.ts';
import type { Route, RouteContext, RoutedRequest } from '../request/route.ts';
import { headersOf, isTrue, type KubeletAccess, kubeletOf, kubeletPath, podOf } from './kubelet-location.ts';

export interface KubeletStream {
  /** Of the kubelet's path, below its root. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** A subresource of pods that is a stream to the kubelet which runs the pod. It exists as an upgrade only. */
export function podStreamRoute(
  subresource: 'exec' | 'attach' | 'portforward',
  streamOf: (pod: Pod, query: URLSearchParams) => KubeletStream,
  access: KubeletAccess,
  context: RouteContext,
): Route {
  return {
    name: `pods/${subresource}`,
    matches: (info) => info.kind === 'resource' && info.group === '' && info.resource === 'pods' && info.subresource === subresource,
    async upgrade(request, socket, head, signal) {
      const pod = podOf(context, request);
      const { segments, query } = streamOf(pod, request.query);
      const url = kubeletPath(kubeletOf(context, pod), segments, query);
      await carryUpgrade(request, socket, head, { url, tls: access.tls }, context, signal);
    },
  };
}

/** @throws {StatusError} before anything was written to the client */
export async function carryUpgrade(
  request: RoutedRequest,
  socket: Duplex,
  head: Uint8Array,
  target: ProxyTarget,
  context: RouteContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await proxyUpgrade({ method: request.method, headers: headersOf(request), socket, head }, target, context.clock, signal);
  } catch (error) {
    if (error instanceof ProtocolRefused) throw badRequest(`unable to upgrade: ${error.message}`);
    if (error instanceof Unavailable) throw unnamedError(`error dialing backend: ${error.message}`);
    throw error;
  }
}

/** The client's words for the wanted streams, in the kubelet's. */
export function kubeletStreams(query: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams();
  for (const [ours, kubelets] of [
    ['stdin', 'input'],
    ['stdout', 'output'],
    ['stderr', 'error'],
    ['tty', 'tty'],
  ] as const) {
    if (isTrue(query.get(ours))) result.set(kubelets, '1');
  }
  return result;
}
