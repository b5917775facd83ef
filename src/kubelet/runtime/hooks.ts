import type { Container, HTTPGetAction, LifecycleHandler, Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import { SpeaksPlainHttp } from '#wire/http/client-errors.ts';
import type { PodRef } from '../pod-start/step.ts';
import type { EventsPort } from '../ports/events.ts';
import type { HttpGetPort } from '../ports/http-get.ts';
import type { PodCounts } from '../ports/pod-counts.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { formatPod, refOf } from './pod-ref.ts';

/** A lifecycle hook did not do its work. */
export class HookFailed extends AppError {
  readonly code = 'HOOK_FAILED';
  readonly retry = 'backoff';
}

export interface HookDeps {
  readonly runtime: RuntimePort;
  readonly http: HttpGetPort;
  readonly events: EventsPort;
  readonly clock: Clock;
  readonly counts?: PodCounts | undefined;
}

export interface HookTarget {
  readonly pod: PodRef;
  readonly containerId: string;
  readonly containerName: string;
  /** How events name the container. */
  readonly fieldPath: string;
  readonly podIP: string;
  /** For ports that are given by name. */
  readonly ports: Container['ports'];
}

const userAgent = 'kube-lifecycle/1.36';

/** Runs a hook to its end. @throws {HookFailed} */
export async function runHook(hook: LifecycleHandler, target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  if (hook.exec !== undefined) return runExec(hook.exec.command ?? [], target, deps, signal);
  if (hook.httpGet !== undefined) return runHttpGet(hook.httpGet, target, deps, signal);
  if (hook.sleep !== undefined) return runSleep(hook.sleep.seconds, deps, signal);
  const [type = 'none'] = Object.keys(hook); // a tcpSocket: the API takes it, no kubelet has ever run it
  throw new HookFailed({ message: `Cannot run handler: invalid handler: ${type}`, hint: 'use exec, httpGet or sleep' });
}

export function hookTarget(pod: Pod, container: Container, containerId: string, fieldPath: string, podIP: string): HookTarget {
  return { pod: refOf(pod), containerId, containerName: container.name, fieldPath, podIP, ports: container.ports };
}

async function runSleep(seconds: number, { clock, counts }: HookDeps, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(seconds * 1000, signal);
  } catch (error) {
    counts?.sleepCut();
    throw error;
  }
}

async function runExec(command: readonly string[], target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  const fail = (error: string, output: string) => {
    throw new HookFailed({
      message: `Exec lifecycle hook ([${command.join(' ')}]) ${whereOf(target)} failed - error: ${error}, message: ${JSON.stringify(output)}`,
    });
  };
  try {
    const { exitCode, stdout, stderr } = await deps.runtime.execSync(target.containerId, command, 0, signal);
    const decoder = new TextDecoder();
    if (exitCode !== 0)
      fail(`command '${command.join(' ')}' exited with ${exitCode}: ${decoder.decode(stderr)}`, decoder.decode(stdout) + decoder.decode(stderr));
  } catch (error) {
    if (error instanceof HookFailed || signal.aborted) throw error;
    fail(messageOf(error), '');
  }
}

/** Only that there is an answer counts, whatever its status. */
async function runHttpGet(action: HTTPGetAction, target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  const host = action.host === undefined || action.host === '' ? target.podIP : action.host;
  const path = action.path ?? '/';
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http';
  try {
    const request = {
      scheme,
      host,
      port: portOf(action.port, target),
      path: path.startsWith('/') ? path : `/${path}`,
      headers: headersOf(action),
    } as const;
    try {
      await deps.http.get(request, signal);
    } catch (error) {
      if (!(error instanceof SpeaksPlainHttp)) throw error;
      await deps.http.get({ ...request, scheme: 'http' }, signal);
      deps.counts?.hookFellBack();
      const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`;
      deps.events.emit(target.pod, { type: 'Warning', reason: 'LifecycleHTTPFallback', message, fieldPath: target.fieldPath });
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new HookFailed({ message: `HTTP lifecycle hook (${path}) ${whereOf(target)} failed - error: ${messageOf(error)}`, cause: error });
  }
}

function portOf(port: number | string, { ports }: HookTarget): number {
  if (typeof port === 'number') return port;
  const named = ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
  if (Number.isInteger(named) && named > 0) return named;
  throw new HookFailed({ message: `couldn't find port: ${port}`, hint: 'name a port of the container, or give its number' });
}

function headersOf({ httpHeaders = [] }: HTTPGetAction): readonly { readonly name: string; readonly value: string }[] {
  const has = (wanted: string) => httpHeaders.some(({ name }) => name.toLowerCase() === wanted);
  const standard = [
    { name: 'User-Agent', value: userAgent },
    { name: 'Accept', value: '*/*' },
  ].filter(({ name }) => !has(name.toLowerCase()));
  return [...standard, ...httpHeaders.map(({ name, value }) => ({ name, value }))];
}

function whereOf({ containerName, pod }: HookTarget): string {
  return `for Container "${containerName}" in Pod "${formatPod(pod)}"`;
}
