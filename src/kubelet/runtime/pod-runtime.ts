import type { Pod } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import { NameReserved } from '#wire/cri/errors.ts';
import type { UserNamespace } from '#wire/generated/cri.ts';
import { podPaths } from '../paths.ts';
import type { PodRef, StopRequest } from '../pod-start/step.ts';
import type { NetworkState } from '../ports/node-facts.ts';
import type { PodRuntimePort, SandboxResult, StartRequest, StartResult } from '../ports/pod-runtime.ts';
import type { DnsDefaults } from './dns-config.ts';
import { killContainer } from './kill-container.ts';
import { killContainers } from './kill-pod.ts';
import type { ContainerKill } from './pod-actions.ts';
import { formatPod, refOf } from './pod-ref.ts';
import { emptyState, isRunning, type PodRuntimeState } from './pod-runtime-state.ts';
import { restartAll } from './restart-all.ts';
import type { RuntimeCache } from './runtime-cache.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { ContainerStarter, type StartDeps } from './start-container/start-container.ts';
import { UserNamespaces } from './user-namespaces.ts';

export interface PodRuntimeDeps extends Omit<StartDeps, 'sandboxConfigOf' | 'usersOf'> {
  readonly cache: RuntimeCache;
  readonly network: Watchable<NetworkState>;
  /** @throws {BadResolvConf} */
  readonly dns: (signal: AbortSignal) => Promise<DnsDefaults>;
}

/** A runtime that answers with an empty id breaks CRI. */
export class NoSandboxId extends AppError {
  readonly code = 'NO_SANDBOX_ID';
  readonly retry = 'backoff';
}

/** Containers still run after all were stopped. */
class StillRunning extends AppError {
  readonly code = 'STILL_RUNNING';
  readonly retry = 'backoff';
}

/** Something of the pod is there after all was removed. */
class StillThere extends AppError {
  readonly code = 'STILL_THERE';
  readonly retry = 'backoff';
}

const uncut = new AbortController().signal;
const logDirMode = 0o755;
/** After so long another attempt number is taken instead. */
const reservedMaxMs = 30_000;

/** Whole deeds on pods, made of single requests to the container runtime. */
export class PodRuntime implements PodRuntimePort {
  readonly network: Watchable<NetworkState>;
  readonly #deps: PodRuntimeDeps;
  readonly #starter: ContainerStarter;
  readonly #users: UserNamespaces;
  /** Since when the runtime has kept a sandbox's name reserved, by pod. */
  readonly #reservedSince = new Map<string, number>();

  constructor(deps: PodRuntimeDeps) {
    this.network = deps.network;
    this.#deps = deps;
    this.#users = new UserNamespaces({ ...deps, idsPerPod: deps.node.userIdsPerPod, featuresOf: deps.node.featuresOf });
    this.#starter = new ContainerStarter({
      ...deps,
      sandboxConfigOf: async ({ pod, cgroupParent }, signal) => (await this.#configOf(pod, 0, cgroupParent, signal)).config,
      usersOf: (pod, signal) => this.#usersOf(pod, signal),
    });
  }

  read(pod: PodRef, signal: AbortSignal): Promise<PodRuntimeState> {
    return this.#deps.cache.refreshPod(pod, signal);
  }

  async createSandbox(pod: Pod, attempt: number, cgroupParent: string, signal: AbortSignal): Promise<SandboxResult> {
    const { runtime, cache, files, events, clock } = this.#deps;
    const { uid } = pod.metadata;
    const reservedMs = clock.monotonic() - (this.#reservedSince.get(uid) ?? clock.monotonic());
    const { config, warnings } = await this.#configOf(pod, reservedMs > reservedMaxMs ? attempt + 1 : attempt, cgroupParent, signal);
    // The runtime keeps every name for one sandbox, so the first attempt needs no look: a sandbox that nobody knows of shows as reserved.
    const isFirst = attempt === 0 && !this.#reservedSince.has(uid) && cache.get(uid) === undefined;
    const [state, handler] = await Promise.all([
      isFirst ? emptyState(pod.metadata) : this.read(refOf(pod), signal),
      this.#deps.runtimeHandlerOf(pod, signal),
      files.ensureDirectory(config.logDirectory, logDirMode, signal),
    ]);
    for (const { reason, message } of warnings) {
      const text = reason === 'MissingClusterDNS' ? `pod: "${formatPod(refOf(pod))}". ${message}` : message;
      events.emit(refOf(pod), { type: 'Warning', reason, message: text });
    }
    const left = state.sandboxes.find((sandbox) => sandbox.ready && sandbox.attempt >= attempt);
    if (left !== undefined) return { kind: 'ready', sandboxId: left.id };
    try {
      const sandboxId = await runtime.runPodSandbox(config, handler, uncut);
      if (sandboxId === '') throw new NoSandboxId({ message: `PodSandboxId is not set for sandbox ${formatPod(refOf(pod))}` });
      this.#reservedSince.delete(uid);
      await cache.refreshSandbox(sandboxId, uncut);
      return { kind: 'ready', sandboxId };
    } catch (error) {
      if (!(error instanceof NameReserved)) throw error;
      this.#reservedSince.set(uid, this.#reservedSince.get(uid) ?? clock.monotonic());
      return { kind: 'reserved' };
    }
  }

  async sandboxIps(sandboxId: string, signal: AbortSignal): Promise<readonly string[]> {
    const known = this.#deps.cache.recordOf(sandboxId);
    if (known !== undefined && 'ready' in known && known.ips !== undefined) return known.ips;
    return (await this.#deps.cache.refreshSandbox(sandboxId, signal))?.ips ?? [];
  }

  startContainer(request: StartRequest, signal: AbortSignal): Promise<StartResult> {
    return this.#starter.start(request, signal);
  }

  async killContainer(pod: Pod, { container, message, probe }: ContainerKill, signal: AbortSignal): Promise<void> {
    const spec = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(({ name }) => name === container.name);
    const ofProbe = probe === 'liveness' ? spec?.livenessProbe : probe === 'startup' ? spec?.startupProbe : undefined;
    const graceSeconds = ofProbe?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 2;
    await killContainer({ pod: refOf(pod), spec: pod.spec, container, message, graceSeconds }, this.#deps, signal);
  }

  async killPod(pod: PodRef, stop: StopRequest, signal: AbortSignal): Promise<void> {
    await killContainers(await this.read(pod, signal), pod, stop, this.#deps, signal);
    const left = (await this.read(pod, signal)).containers.filter(isRunning);
    if (left.length > 0) {
      const ids = left.map(({ id }) => id).join(' ');
      throw new StillRunning({ message: `detected running containers after a successful KillPod, CRI violation: [${ids}]` });
    }
  }

  async stopSandboxes(pod: PodRef, signal: AbortSignal): Promise<void> {
    const { runtime, cache } = this.#deps;
    const { sandboxes } = this.#justRead(pod);
    // Those that are not ready too: only a stop gives back what the network plugins hold for them.
    await Promise.all(
      sandboxes.map(async ({ id }) => {
        await runtime.stopPodSandbox(id, signal);
        await cache.refreshSandbox(id, signal);
      }),
    );
  }

  async stopAll(pod: Pod, because: 'new-sandbox' | 'end' | 'restart', signal: AbortSignal): Promise<void> {
    const { events, clock } = this.#deps;
    const ref = refOf(pod);
    if (because === 'restart') return await restartAll(pod, this.#deps, signal);
    if (because === 'new-sandbox') {
      events.emit(ref, { type: 'Normal', reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' });
    }
    const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? 2) * 1000;
    await this.killPod(ref, { reason: 'finished', deadlineMs: new Cell(clock.now() + graceMs), spec: pod.spec }, signal);
    await this.stopSandboxes(ref, signal);
    if (because === 'new-sandbox') await this.#removeInitContainers(pod, signal);
  }

  async removeAll(pod: PodRef, signal: AbortSignal): Promise<void> {
    const { runtime, files, roots } = this.#deps;
    const { sandboxes, containers } = this.#justRead(pod);
    await Promise.all(containers.map(({ id }) => runtime.removeContainer(id, signal)));
    await Promise.all(sandboxes.map(({ id }) => runtime.removePodSandbox(id, signal)));
    const left = await this.read(pod, signal);
    if (left.sandboxes.length + left.containers.length > 0) {
      const ids = [...left.sandboxes, ...left.containers].map(({ id }) => id).join(' ');
      throw new StillThere({ message: `the runtime still has sandboxes or containers of pod ${formatPod(pod)}: [${ids}]` });
    }
    await files.removeTree(podPaths(roots, pod).logs, signal);
    this.forget(pod.uid);
  }

  /** On the way down each step reads the runtime before it undoes, and `removeAll` looks again: there is no need for a third time. */
  #justRead(pod: PodRef): PodRuntimeState {
    return this.#deps.cache.get(pod.uid) ?? emptyState(pod);
  }

  /** What is remembered of a pod that is gone. */
  forget(podUid: string): void {
    this.#reservedSince.delete(podUid);
    this.#users.release(podUid);
    this.#deps.reasons.forget(podUid);
    this.#deps.images.forget(podUid);
  }

  async #removeInitContainers(pod: Pod, signal: AbortSignal): Promise<void> {
    const { runtime, cache } = this.#deps;
    const names = new Set((pod.spec?.initContainers ?? []).map(({ name }) => name));
    const past = (cache.get(pod.metadata.uid)?.containers ?? []).filter((container) => names.has(container.name) && !isRunning(container));
    await Promise.all(past.map(({ id }) => runtime.removeContainer(id, signal)));
    await Promise.all(past.map(({ id }) => cache.refreshContainer(id, signal)));
  }

  async #configOf(pod: Pod, attempt: number, cgroupParent: string, signal: AbortSignal) {
    const { roots, dns, node } = this.#deps;
    const logDirectory = podPaths(roots, pod.metadata).logs;
    const users = await this.#usersOf(pod, signal);
    return sandboxConfig({ pod, attempt, cgroupParent, logDirectory, dns: await dns(signal), users, resources: node.sandboxResourcesOf(pod) });
  }

  #usersOf(pod: Pod, signal: AbortSignal): Promise<UserNamespace> {
    return this.#users.of(pod, () => this.#deps.runtimeHandlerOf(pod, signal), signal);
  }
}
