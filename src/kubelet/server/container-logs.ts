import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf, Unavailable } from '#base/errors.ts';
import { ContainerState } from '#wire/generated/cri.ts';
import type { HttpResponse } from '#wire/http/server.ts';
import type { LogFilesPort } from '../ports/log-files.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { Refusal } from './answer.ts';
import type { ContainerTarget } from './kubelet-route.ts';
import type { ContainerLife } from './logs/log-follower.ts';
import { type LogOptions, parseLogOptions } from './logs/log-options.ts';
import { logSource } from './logs/log-source.ts';
import { readLog } from './logs/read-log.ts';

export interface ContainerLogsDeps {
  readonly runtime: Pick<RuntimePort, 'containerStatus'>;
  readonly files: LogFilesPort;
  readonly clock: Clock;
  /** Calls the listener whenever a container of the node may have ended; the answer unsubscribes. */
  readonly onPodsChanged: (listener: () => void) => () => void;
}

/** `GET /containerLogs/...`. Once the log is chosen the answer is 200, and a later error is text at the end of the body: as upstream. */
export function containerLogs(
  deps: ContainerLogsDeps,
  pod: Pod | undefined,
  target: ContainerTarget,
  query: URLSearchParams,
  signal: AbortSignal,
): HttpResponse {
  if (target.pod === '') throw new Refusal(400, '{"message": "Missing podID."}');
  if (target.container === '') throw new Refusal(400, '{"message": "Missing container name."}');
  if (target.namespace === '') throw new Refusal(400, '{"message": "Missing podNamespace."}');
  const parsed = parseLogOptions(query, deps.clock.now());
  if (!parsed.ok) throw new Refusal(parsed.status, parsed.text);
  if (pod === undefined) throw new Refusal(404, `pod "${target.pod}" does not exist`);
  const source = logSource(pod, target.container, parsed.options.previous);
  if (source.kind === 'unknown-container') throw new Refusal(404, source.text);
  if (parsed.options.stream !== 'All') {
    const gate = 'Please enable PodLogsQuerySplitStreams feature gate in kubelet';
    throw new Refusal(400, `unable to return the given log stream: "${parsed.options.stream}". ${gate}`);
  }
  if (source.kind === 'no-log') throw new Refusal(400, source.text);
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: logBody(deps, source.containerId, parsed.options, signal) };
}

async function* logBody(
  deps: ContainerLogsDeps,
  containerId: string,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    const path = await logPath(deps, containerId, signal);
    const file = path === undefined ? undefined : await deps.files.open(path, signal);
    if (path === undefined) yield Buffer.from(`unable to retrieve container logs for containerd://${containerId}`);
    else if (file === undefined) yield Buffer.from(`failed to open log file ${JSON.stringify(path)}: open ${path}: no such file or directory`);
    else yield* readLog(file, path, deps.files, options, lifeOf(deps, containerId), deps.clock, signal);
  } catch (error) {
    if (!signal.aborted) yield Buffer.from(messageOf(error));
  }
}

async function logPath(deps: ContainerLogsDeps, containerId: string, signal: AbortSignal): Promise<string | undefined> {
  const status = await deps.runtime.containerStatus(containerId, signal);
  return status === undefined || status.logPath === '' ? undefined : status.logPath;
}

function lifeOf(deps: ContainerLogsDeps, containerId: string): ContainerLife {
  return {
    async isRunning(signal) {
      try {
        return (await deps.runtime.containerStatus(containerId, signal))?.state === ContainerState.CONTAINER_RUNNING;
      } catch (error) {
        if (error instanceof Unavailable) return true; // a runtime that restarts says nothing about its containers
        throw error;
      }
    },
    subscribe: deps.onPodsChanged,
  };
}
