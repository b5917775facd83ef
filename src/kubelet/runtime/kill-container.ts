import type { Container, LifecycleHandler, PodSpec } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { PodRef } from '../pod-start/step.ts';
import type { EventsPort } from '../ports/events.ts';
import type { ContainerKind } from '../ports/pod-runtime.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { fieldPathOf } from './field-path.ts';
import { type HookDeps, runHook } from './hooks.ts';
import { anewWhenNearer, untilDeadline } from './kill-deadline.ts';
import { type ContainerRecord, readySandbox } from './pod-runtime-state.ts';
import type { RuntimeCache } from './runtime-cache.ts';

export interface KillDeps extends HookDeps {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly events: EventsPort;
  readonly clock: Clock;
}

export interface KillRequest {
  readonly pod: PodRef;
  /** Absent: the hook is read from the container's annotations. */
  readonly spec: PodSpec | undefined;
  readonly container: ContainerRecord;
  /** Text of the event. */
  readonly message: string;
  /** For its hook and its program together. */
  readonly graceSeconds: number;
  /** Comes nearer when the pod's grace is shortened meanwhile. */
  readonly deadlineMs?: Watchable<number> | undefined;
  /** Sidecars wait with their end, not with their hook, for those that need them, but not beyond their grace. */
  readonly turn?: Promise<unknown> | undefined;
}

/** Every program gets at least this long, whatever was asked for: upstream's rule. */
const minStopSeconds = 2;

/** preStop, then the stop signal, then SIGKILL. @throws runtime errors */
export async function killContainer(request: KillRequest, deps: KillDeps, signal: AbortSignal): Promise<void> {
  const { clock, events, cache } = deps;
  const { pod, container, spec } = request;
  const deadlineMs = request.deadlineMs ?? new Cell(clock.now() + request.graceSeconds * 1000);
  const { fieldPath, found } = locate(spec, container.name);
  events.emit(pod, { type: 'Normal', reason: 'Killing', message: request.message, fieldPath });
  const hook = found?.lifecycle?.preStop ?? parseHook(container.preStopJson);
  if (hook !== undefined && deadlineMs.get() > clock.now()) {
    const podIP = readySandbox(cache.get(pod.uid) ?? { ...pod, sandboxes: [], containers: [] })?.ips?.[0] ?? '';
    const target = { pod, containerId: container.id, containerName: container.name, fieldPath, podIP, ports: found?.ports };
    try {
      await untilDeadline(deadlineMs, clock, signal, (inner) => runHook(hook, target, deps, inner));
    } catch (error) {
      if (signal.aborted) throw error;
      events.emit(pod, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed', fieldPath });
    }
  }
  const { turn } = request;
  if (turn !== undefined) await untilDeadline(deadlineMs, clock, signal, () => turn);
  await anewWhenNearer(deadlineMs, signal, (inner) => {
    const seconds = Math.max(minStopSeconds, Math.ceil((deadlineMs.get() - clock.now()) / 1000));
    return deps.runtime.stopContainer(container.id, seconds, inner);
  });
  await cache.refreshContainer(container.id, signal);
}

function locate(
  spec: PodSpec | undefined,
  name: string,
): { readonly found: Pick<Container, 'lifecycle' | 'ports'> | undefined; readonly fieldPath: string } {
  const lists: readonly (readonly [ContainerKind, readonly Pick<Container, 'name' | 'lifecycle' | 'ports'>[] | undefined])[] = [
    ['init', spec?.initContainers],
    ['ephemeral', spec?.ephemeralContainers],
    ['container', spec?.containers],
  ];
  for (const [kind, list] of lists) {
    const found = list?.find((container) => container.name === name);
    if (found !== undefined) return { found, fieldPath: fieldPathOf(kind, name) };
  }
  return { found: undefined, fieldPath: fieldPathOf('container', name) };
}

function parseHook(json: string | undefined): LifecycleHandler | undefined {
  if (json === undefined) return undefined;
  try {
    const hook: unknown = JSON.parse(json);
    return typeof hook === 'object' && hook !== null ? hook : undefined;
  } catch {
    return undefined; // not written by us: a container without a hook can still be stopped
  }
}
