import type { Container, Pod } from '#api/types/core-v1.ts';
import { Backoff, type BackoffSettings } from '#base/backoff.ts';
import { AppError, messageOf } from '#base/errors.ts';
import { RuntimeError } from '#wire/cri/errors.ts';
import type { ContainerConfig, PodSandboxConfig, UserNamespace } from '#wire/generated/cri.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { ImagesPort, MissingImage } from '../../ports/images.ts';
import type { PodCounts } from '../../ports/pod-counts.ts';
import type { StartReason, StartRequest, StartResult } from '../../ports/pod-runtime.ts';
import { containerHash } from '../container-hash.ts';
import { ContainerConfigError } from '../environment.ts';
import { fieldPathOf } from '../field-path.ts';
import { goDuration } from '../go-duration.ts';
import { type HookDeps, hookTarget, runHook } from '../hooks.ts';
import { BadHostname } from '../hostname.ts';
import type { KillDeps } from '../kill-container.ts';
import { killContainer } from '../kill-container.ts';
import { formatPod, refOf } from '../pod-ref.ts';
import { emptyState, type PodRuntimeState } from '../pod-runtime-state.ts';
import type { ReasonCache } from '../reason-cache.ts';
import { type PrepareDeps, prepareConfig } from './prepare-config.ts';
import { ensureVolumeImages } from './volume-images.ts';

export interface StartSettings {
  /** Between the restarts of one container. */
  readonly crashBackoff: BackoffSettings;
  /** After a failure that no back-off of its own covers. */
  readonly retryMs: number;
}

export interface StartDeps extends PrepareDeps, HookDeps, KillDeps {
  readonly images: ImagesPort;
  readonly events: EventsPort;
  readonly reasons: ReasonCache;
  /** The sandbox's configuration once more, as `CreateContainer` wants it. */
  readonly sandboxConfigOf: (request: StartRequest, signal: AbortSignal) => Promise<PodSandboxConfig>;
  readonly usersOf: (pod: Pod, signal: AbortSignal) => Promise<UserNamespace>;
  readonly settings: StartSettings;
  readonly counts?: PodCounts | undefined;
}

type Blocked = Extract<StartResult, { kind: 'blocked' }>;

/** A request to the runtime is not cut short: what it has begun would be there all the same. */
const uncut = new AbortController().signal;

/** Starts containers: image, configuration, create, start, post-start. */
export class ContainerStarter {
  readonly #deps: StartDeps;
  readonly #backoff: Backoff;

  constructor(deps: StartDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(deps.settings.crashBackoff, deps.clock);
  }

  async start(request: StartRequest, signal: AbortSignal): Promise<StartResult> {
    const { reasons, counts, cache } = this.#deps;
    const { pod, container, kind } = request;
    const { uid } = pod.metadata;
    const waits = this.#crashLoop(request);
    if (waits === undefined) counts?.containerStarts(kind);
    if (waits === undefined && container.lifecycle?.postStart !== undefined) cache.hold(uid, container.name, 'starting');
    try {
      const result = waits ?? (await this.#startNow(request, signal));
      if (waits === undefined && result.kind === 'blocked') counts?.containerBlocked(kind, result.reason);
      if (result.kind === 'started') reasons.clear(uid, container.name);
      else reasons.set(uid, container.name, { reason: result.reason, message: result.message });
      return result;
    } finally {
      cache.release(uid, container.name);
    }
  }

  async #startNow(request: StartRequest, signal: AbortSignal): Promise<StartResult> {
    const deps = this.#deps;
    const { pod, container, kind } = request;
    const observed = this.#observed(pod);
    const fieldPath = fieldPathOf(kind, container.name);
    const image = await deps.images.ensure(pod, container, fieldPath, signal);
    if (image.kind === 'missing') return this.#imageBlocked(request, image, container.image ?? '');
    let config: ContainerConfig;
    let sandbox: PodSandboxConfig;
    try {
      const volumeImages = await ensureVolumeImages(request, fieldPath, deps, signal);
      if (volumeImages.kind === 'missing') return this.#imageBlocked(request, volumeImages.image, volumeImages.reference);
      const users = await deps.usersOf(pod, signal);
      config = await prepareConfig(request, { image, volumeImages: volumeImages.refs, observed, users }, deps, signal);
      sandbox = await deps.sandboxConfigOf(request, signal);
    } catch (error) {
      return this.#configBlocked(request, error, signal);
    }
    const created = await this.#create(request, config, sandbox);
    if (created.kind === 'blocked') return created;
    this.#tell(request, 'Normal', 'Created', 'Container created');
    const blocked = await this.#run(request, created.containerId);
    if (blocked !== undefined) return blocked;
    this.#tell(request, 'Normal', 'Started', 'Container started');
    return (await this.#postStart(request, created.containerId, signal)) ?? created;
  }

  /** The first restart is immediate; each further one waits longer, counted from the end of the last run. */
  #crashLoop({ pod, container, kind }: StartRequest): Blocked | undefined {
    const last = this.#observed(pod).containers.find(({ name, phase }) => name === container.name && phase === 'exited');
    if (last === undefined) return undefined;
    const key = crashKey(pod, container);
    const leftMs = this.#backoff.remainingMs(key, last.finishedAtMs);
    if (leftMs <= 0) {
      this.#backoff.advance(key);
      return undefined;
    }
    const where = `restarting failed container=${container.name} pod=${formatPod(refOf(pod))}`;
    const text = `Back-off restarting failed container ${container.name} in pod ${formatPod(refOf(pod))}`;
    this.#deps.events.emit(refOf(pod), { type: 'Warning', reason: 'BackOff', message: text, fieldPath: fieldPathOf(kind, container.name) });
    const message = `back-off ${goDuration(this.#backoff.delayMs(key))} ${where}`;
    return { kind: 'blocked', reason: 'CrashLoopBackOff', message, wakeOn: [{ kind: 'time' }], retryInMs: leftMs };
  }

  async #create(request: StartRequest, config: ContainerConfig, sandbox: PodSandboxConfig): Promise<StartResult> {
    const { sandboxId } = request;
    try {
      const containerId = await this.#deps.runtime.createContainer(sandboxId, config, sandbox, uncut);
      return { kind: 'started', containerId };
    } catch (error) {
      return this.#blocked(request, 'CreateContainerError', error);
    }
  }

  async #run(request: StartRequest, containerId: string): Promise<Blocked | undefined> {
    try {
      await this.#deps.runtime.startContainer(containerId, uncut);
      return undefined;
    } catch (error) {
      return this.#blocked(request, 'RunContainerError', error);
    } finally {
      await this.#deps.cache.refreshContainer(containerId, uncut);
    }
  }

  async #postStart(request: StartRequest, containerId: string, signal: AbortSignal): Promise<Blocked | undefined> {
    const { pod, container, kind } = request;
    const hook = container.lifecycle?.postStart;
    if (hook === undefined) return undefined;
    const [podIP = ''] = pod.spec?.hostNetwork === true ? this.#deps.node.hostIPs() : request.podIPs;
    try {
      await runHook(hook, hookTarget(pod, container, containerId, fieldPathOf(kind, container.name), podIP), this.#deps, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#tell(request, 'Warning', 'FailedPostStartHook', 'PostStartHook failed');
      const record = await this.#deps.cache.refreshContainer(containerId, uncut);
      const graceSeconds = pod.spec?.terminationGracePeriodSeconds ?? 2;
      if (record !== undefined) {
        await killContainer({ pod: refOf(pod), spec: pod.spec, container: record, message: 'FailedPostStartHook', graceSeconds }, this.#deps, signal);
      }
      return {
        kind: 'blocked',
        reason: 'PostStartHookError',
        message: messageOf(error),
        wakeOn: [{ kind: 'runtime' }],
        retryInMs: this.#deps.settings.retryMs,
      };
    }
  }

  #imageBlocked(request: StartRequest, { reason, message, retryInMs }: MissingImage, ref: string): Blocked {
    this.#tell(request, 'Warning', 'Failed', `Error: ${reason}`);
    return { kind: 'blocked', reason, message, wakeOn: [{ kind: 'image', ref }], retryInMs };
  }

  #configBlocked(request: StartRequest, error: unknown, signal: AbortSignal): Blocked {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const blocked = this.#blocked(request, 'CreateContainerConfigError', error);
    if (error instanceof ContainerConfigError && error.wakeOn !== undefined) return { ...blocked, wakeOn: [{ kind: 'object', ref: error.wakeOn }] };
    return error instanceof BadHostname ? { ...blocked, wakeOn: [] } : blocked;
  }

  /** @throws what is no error of the runtime or of the configuration: a bug */
  #blocked(request: StartRequest, reason: StartReason, error: unknown): Blocked {
    if (!(error instanceof AppError)) throw error;
    const message = error instanceof RuntimeError ? error.details : error.message;
    this.#tell(request, 'Warning', 'Failed', `Error: ${message}`);
    return { kind: 'blocked', reason, message, wakeOn: [{ kind: 'time' }], retryInMs: this.#deps.settings.retryMs };
  }

  #observed(pod: Pod): PodRuntimeState {
    return this.#deps.cache.get(pod.metadata.uid) ?? emptyState(pod.metadata);
  }

  #tell({ pod, container, kind }: StartRequest, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.events.emit(refOf(pod), { type, reason, message, fieldPath: fieldPathOf(kind, container.name) });
  }
}

function crashKey(pod: Pod, container: Container): string {
  const { name, namespace, uid } = pod.metadata;
  return `${name}_${namespace}_${uid}_${container.name}_${containerHash(container)}`;
}
