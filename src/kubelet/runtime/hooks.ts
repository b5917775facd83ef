import type { Container, LifecycleHandler, Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { HttpGetPort } from '../ports/http-get.ts';
import type { RuntimePort } from '../ports/runtime.ts';

/** A lifecycle hook did not do its work. */
export class HookFailed extends AppError {
  readonly code = 'HOOK_FAILED';
  readonly retry = 'backoff';
}

export interface HookDeps {
  readonly runtime: RuntimePort;
  readonly http: HttpGetPort;
  readonly clock: Clock;
}

export interface HookTarget {
  readonly containerId: string;
  readonly containerName: string;
  /** `<name>_<namespace>(<uid>)` */
  readonly pod: string;
  readonly podIP: string;
  /** For ports that are given by name. */
  readonly ports: Container['ports'];
}

/** Runs a hook to its end. @throws {HookFailed} */
export async function runHook(hook: LifecycleHandler, target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  if (hook.exec !== undefined) return runExec(hook.exec.command ?? [], target, deps, signal);
  if (hook.httpGet !== undefined) return runHttpGet(hook.httpGet, target, deps, signal);
  if (hook.sleep !== undefined) return deps.clock.sleep(hook.sleep.seconds * 1000, signal);
}

export function hookTarget(pod: Pod, container: Container, containerId: string, podIP: string): HookTarget {
  const { name, namespace, uid } = pod.metadata;
  return { containerId, containerName: container.name, pod: `${name}_${namespace}(${uid})`, podIP, ports: container.ports };
}

async function runExec(command: readonly string[], target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  const fail = (error: string, output: string) => {
    const where = `for Container "${target.containerName}" in Pod "${target.pod}"`;
    throw new HookFailed({
      message: `Exec lifecycle hook ([${command.join(' ')}]) ${where} failed - error: ${error}, message: ${JSON.stringify(output)}`,
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

async function runHttpGet(action: NonNullable<LifecycleHandler['httpGet']>, target: HookTarget, deps: HookDeps, signal: AbortSignal): Promise<void> {
  const named = target.ports?.find(({ name }) => name === action.port)?.containerPort;
  const port = typeof action.port === 'number' ? action.port : (named ?? Number(action.port));
  const host = action.host === undefined || action.host === '' ? target.podIP : action.host;
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http';
  const headers = (action.httpHeaders ?? []).map(({ name, value }) => ({ name, value }));
  const path = action.path ?? '/';
  try {
    await deps.http.get({ scheme, host, port, path: path.startsWith('/') ? path : `/${path}`, headers }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const where = `for Container "${target.containerName}" in Pod "${target.pod}"`;
    throw new HookFailed({ message: `HTTP lifecycle hook (${path}) ${where} failed - error: ${messageOf(error)}`, cause: error });
  }
}
