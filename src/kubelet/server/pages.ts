import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { HttpRequest, HttpResponse } from '#wire/http/server.ts';
import { ProtocolRefused } from '#wire/http/upgrade.ts';
import type { LogFilesPort } from '../ports/log-files.ts';
import type { OwnProcessPort } from '../ports/own-process.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import { refusalOf, type ServerSwitches } from './allowed.ts';
import { jsonAnswer, Refusal, textAnswer } from './answer.ts';
import { type CheckpointPort, checkpoint } from './checkpoint.ts';
import { containerLogs } from './container-logs.ts';
import { profilingAnswer, verbosityAnswer } from './debugging.ts';
import { type HealthCheck, healthAnswer } from './health.ts';
import { type ContainerTarget, type KubeletRoute, kubeletRoute } from './kubelet-route.ts';
import type { ServiceLogs } from './logs/service-logs.ts';
import { nodeLogAnswer } from './node-logs.ts';
import { runCommand } from './run-command.ts';
import { runningPods } from './running-pods.ts';
import { streamUrl } from './streams.ts';
import type { SystemLogs } from './system-logs.ts';
import { type ZPage, zPageAnswer } from './zpages.ts';

/** What the kubelet's pages are made of. */
export interface KubeletPages {
  readonly runtime: Pick<RuntimePort, 'exec' | 'attach' | 'portForward' | 'listContainers' | 'listPodSandboxes' | 'containerStatus' | 'execSync'>;
  readonly logFiles: LogFilesPort;
  /** Every pod that the kubelet knows, each with the kubelet's own latest status. */
  readonly pods: () => readonly Pod[];
  /** Pods as the runtime has them. */
  readonly runtimePods: () => readonly PodRuntimeState[];
  /** Calls the listener whenever `pods` may have changed, so that followers of logs end at once; the answer unsubscribes. */
  readonly onPodsChanged: (listener: () => void) => () => void;
  readonly health: ReadonlyMap<string, HealthCheck>;
  /** Prometheus text by path. */
  readonly metrics: ReadonlyMap<string, (signal: AbortSignal) => Promise<string>>;
  readonly summary: (onlyCompute: boolean, signal: AbortSignal) => Promise<unknown>;
  /** What `/configz` shows. */
  readonly config: unknown;
  readonly statusz: () => ZPage;
  readonly flagz: () => ZPage;
  readonly checkpoints: CheckpointPort;
  readonly systemLogs: SystemLogs;
  /** Absent: nobody may ask for the logs of services. */
  readonly serviceLogs?: ServiceLogs | undefined;
  /** More JSON pages by path, such as `/podstartups`. */
  readonly more: ReadonlyMap<string, () => unknown>;
  /** Absent: nobody looks into this process. */
  readonly process?: OwnProcessPort | undefined;
  readonly switches: ServerSwitches;
  readonly clock: Clock;
  readonly logger: Logger;
}

const mostFlagBytes = 100;

/** Answers whoever was let in. */
export async function pageAnswer(pages: KubeletPages, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  try {
    const page = pages.more.get(request.path);
    if (page !== undefined) return jsonAnswer(page());
    const route = kubeletRoute(request.path);
    return refusalOf(route.kind, request.method, pages.switches) ?? (await routeAnswer(pages, route, request, signal));
  } catch (error) {
    return failureAnswer(pages.logger, request, error);
  }
}

async function routeAnswer(pages: KubeletPages, route: KubeletRoute, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const { runtime, logFiles: files, clock, onPodsChanged } = pages;
  const { query, path } = request;
  switch (route.kind) {
    case 'healthz':
      return await healthAnswer(pages.health, route.check, query);
    case 'pods':
      return jsonAnswer({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: pages.pods() });
    case 'runningpods':
      return jsonAnswer(runningPods(pages.runtimePods()));
    case 'configz':
      return jsonAnswer({ kubeletconfig: pages.config });
    case 'statusz':
      return zPageAnswer(pages.statusz(), request.headers['accept']);
    case 'flagz':
      return zPageAnswer(pages.flagz(), request.headers['accept']);
    case 'metrics':
      return await metricsAnswer(pages, path, signal);
    case 'summary':
      return await summaryAnswer(pages, query.get('only_cpu_and_memory') === 'true', signal);
    case 'logs':
      return await nodeLogAnswer(pages, route.path, query, path.endsWith('/'), signal);
    case 'containerLogs':
      return containerLogs({ runtime, files, clock, onPodsChanged }, podOf(pages, route), route, query, signal);
    case 'checkpoint':
      return await checkpoint(pages.checkpoints, podOf(pages, route), route, query, signal);
    case 'run':
      return await runCommand(runtime, podOf(pages, route), route, query, signal);
    case 'exec':
    case 'attach':
    case 'portForward':
      await streamUrl(runtime, podOf(pages, route), route, query, signal); // what is wrong with the question is told first
      throw new Refusal(500, 'Upgrade request required');
    case 'verbosity':
      return verbosityAnswer(pages.process, await request.body(mostFlagBytes, signal));
    case 'profiling':
      return await profilingAnswer(pages.process, route.name, query, signal);
    case 'unknown':
      return textAnswer(404, '404: Page Not Found');
  }
}

async function metricsAnswer({ metrics }: KubeletPages, path: string, signal: AbortSignal): Promise<HttpResponse> {
  const page = metrics.get(path.replace(/\/$/, ''));
  if (page === undefined) return textAnswer(404, '404: Page Not Found');
  return { ...textAnswer(200, await page(signal)), headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } };
}

async function summaryAnswer({ summary }: KubeletPages, onlyCompute: boolean, signal: AbortSignal): Promise<HttpResponse> {
  try {
    return jsonAnswer(await summary(onlyCompute, signal));
  } catch (error) {
    throw new Refusal(500, `Internal Error: ${messageOf(error)}`);
  }
}

/** By name alone: what a wrong uid means is for each page to say. */
export function podOf({ pods }: Pick<KubeletPages, 'pods'>, { namespace, pod }: Pick<ContainerTarget, 'namespace' | 'pod'>): Pod | undefined {
  return pods().find(({ metadata }) => metadata.name === pod && metadata.namespace === namespace);
}

export function failureAnswer(logger: Logger, request: Pick<HttpRequest, 'method' | 'path'>, error: unknown): HttpResponse {
  if (error instanceof Refusal) {
    const answer = textAnswer(error.status, error.message);
    return { ...answer, headers: { ...answer.headers, ...error.headers } };
  }
  if (error instanceof ProtocolRefused) return textAnswer(400, error.message);
  logger.warn('a request failed', { method: request.method, path: request.path, error: messageOf(error) });
  return textAnswer(500, messageOf(error));
}
