import type { Duplex } from 'node:stream';
import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { PeerIdentity } from '#wire/http/peers.ts';
import { createHttpServer, type HttpRequest, type HttpResponse } from '#wire/http/server.ts';
import { ProtocolRefused, proxyUpgrade } from '#wire/http/upgrade.ts';
import { headerPairs, wantedUpgrade } from '#wire/http/upgrade-head.ts';
import type { LogFilesPort } from '../ports/log-files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { jsonAnswer, Refusal, textAnswer } from './answer.ts';
import { containerLogs } from './container-logs.ts';
import { type ContainerTarget, kubeletRoute } from './kubelet-route.ts';
import { runningContainer, type StreamRoute, streamUrl } from './streams.ts';

export interface KubeletServerOptions {
  /** PEM; `clientCa` decides who may come in. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string };
  readonly runtime: Pick<RuntimePort, 'exec' | 'attach' | 'portForward' | 'listContainers' | 'listPodSandboxes' | 'containerStatus' | 'execSync'>;
  readonly logFiles: LogFilesPort;
  /** Every pod that the kubelet knows, each with the kubelet's own latest status. */
  readonly pods: () => readonly Pod[];
  /** Calls the listener whenever `pods` may have changed, so that followers of logs end at once; the answer unsubscribes. */
  readonly onPodsChanged: (listener: () => void) => () => void;
  /** Prometheus text; absent: an empty page. */
  readonly metrics?: (() => Promise<string>) | undefined;
  /** What `/configz` shows. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** More JSON pages by path, such as `/podstartups`. */
  readonly pages?: ReadonlyMap<string, () => unknown> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface KubeletServer {
  /** @param address.port 0: any free one @returns the port that was taken @throws {Unavailable} */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Of connections from now on. */
  useTls(tls: KubeletServerOptions['tls']): void;
  /** Ends open streams. May be called twice. */
  close(): Promise<void>;
}

/** What the kubelet serves to the API server: logs, exec, attach, port-forward, and a few pages. */
export function createKubeletServer(options: KubeletServerOptions): KubeletServer {
  return createHttpServer({
    tls: options.tls,
    clock: options.clock,
    handler: async (request, signal) => {
      try {
        return refusalOf(request.peer) ?? (await answer(options, request, signal));
      } catch (error) {
        return failure(options.logger, request, error);
      }
    },
    upgrade: async (request, socket, head, signal) => {
      try {
        await stream(options, request, socket, head, signal);
      } catch (error) {
        endWith(socket, failure(options.logger, request, error));
      }
    },
    onFailure: (what, error) => options.logger.error('a request broke', { what, error: messageOf(error) }),
  });
}

/** Only those who may do everything, and the API server, come in; @returns undefined for them */
function refusalOf(peer: PeerIdentity): HttpResponse | undefined {
  if (peer.kind !== 'verified') return textAnswer(401, 'Unauthorized');
  if (peer.organizations.includes('system:masters') || peer.commonName === 'kube-apiserver-kubelet-client') return undefined;
  return textAnswer(403, `Forbidden (user=${peer.commonName}, resource=nodes, subresource(s)=[proxy])\n`);
}

async function answer(options: KubeletServerOptions, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const page = options.pages?.get(request.path);
  if (page !== undefined) return jsonAnswer(page());
  const route = kubeletRoute(request.path);
  const methods = methodsOf[route.kind];
  if (methods !== undefined && !methods.includes(request.method)) {
    return { ...textAnswer(405, '405: Method Not Allowed'), headers: { allow: methods.join(', ') } };
  }
  switch (route.kind) {
    case 'healthz':
      return textAnswer(200, 'ok');
    case 'pods':
      return jsonAnswer({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: options.pods() });
    case 'configz':
      return jsonAnswer({ kubeletconfig: options.config ?? {} });
    case 'metrics':
      return { ...textAnswer(200, (await options.metrics?.()) ?? ''), headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } };
    case 'containerLogs': {
      const deps = { runtime: options.runtime, files: options.logFiles, clock: options.clock, onPodsChanged: options.onPodsChanged };
      return containerLogs(deps, podOf(options, route), route, request.query, signal);
    }
    case 'run':
      return await run(options, route, request.query, signal);
    case 'exec':
    case 'attach':
    case 'portForward':
      throw new Refusal(500, 'Upgrade request required');
    case 'unknown':
      return textAnswer(404, '404: Page Not Found');
  }
}

const methodsOf: Readonly<Record<string, readonly string[] | undefined>> = {
  pods: ['GET'],
  configz: ['GET'],
  containerLogs: ['GET'],
  run: ['POST'],
  exec: ['GET', 'POST'],
  attach: ['GET', 'POST'],
  portForward: ['GET', 'POST'],
};

async function stream(options: KubeletServerOptions, request: HttpRequest, socket: Duplex, head: Uint8Array, signal: AbortSignal): Promise<void> {
  const refusal = refusalOf(request.peer);
  if (refusal !== undefined) return endWith(socket, refusal);
  const route = kubeletRoute(request.path);
  const headers = headerPairs(request.rawHeaders);
  if (!isStream(route) || wantedUpgrade(headers) === undefined) return endWith(socket, textAnswer(404, '404: Page Not Found'));
  const url = await streamUrl(options.runtime, podOf(options, route), route, request.query, signal);
  await proxyUpgrade({ method: request.method, headers, socket, head }, { url }, options.clock, signal);
}

function isStream(route: ReturnType<typeof kubeletRoute>): route is StreamRoute {
  return route.kind === 'exec' || route.kind === 'attach' || route.kind === 'portForward';
}

async function run(options: KubeletServerOptions, route: ContainerTarget, query: URLSearchParams, signal: AbortSignal): Promise<HttpResponse> {
  const pod = podOf(options, route);
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  const { id } = await runningContainer(options.runtime, pod, route.container, `container not found ("${route.container}")`, signal);
  const { stdout, stderr } = await options.runtime.execSync(id, (query.get('cmd') ?? '').split(' '), 0, signal);
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.concat([stdout, stderr]) };
}

function podOf(options: KubeletServerOptions, target: Omit<ContainerTarget, 'container'>): Pod | undefined {
  const isMeant = ({ metadata }: Pod): boolean =>
    metadata.name === target.pod && metadata.namespace === target.namespace && (target.uid === undefined || metadata.uid === target.uid);
  return options.pods().find(isMeant);
}

function failure(logger: Logger, request: HttpRequest, error: unknown): HttpResponse {
  if (error instanceof Refusal) return textAnswer(error.status, error.message);
  if (error instanceof ProtocolRefused) return textAnswer(400, error.message);
  logger.warn('a request failed', { method: request.method, path: request.path, error: messageOf(error) });
  return textAnswer(500, messageOf(error));
}

/** Answers on a connection whose request wanted an upgrade. */
function endWith(socket: Duplex, { status, headers, body }: HttpResponse): void {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  const lines = Object.entries({ ...headers, 'content-length': bytes.byteLength, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  if (!socket.destroyed) socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${lines.join('')}\r\n`), bytes]));
}
