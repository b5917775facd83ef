import { throwIfAborted } from '#base/abort.ts';
import { Channel } from '#base/channel.ts';
import type { Clock } from '#base/clock.ts';
import { NotFound } from '#base/errors.ts';
import { ImageNotFound, NameReserved, WrongState } from '#wire/cri/errors.ts';
import {
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  ContainerState,
  type ContainerStatus,
  type ExecSyncResponse,
  type Image,
  type ImageSpec,
  NamespaceMode,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  PodSandboxState,
  type PodSandboxStatus,
  type StatusResponse,
  type VersionResponse,
} from '#wire/generated/cri.ts';
import type { RuntimeEvent, RuntimePort } from '../../ports/runtime.ts';
import { createdStatus, imageOf, matches, noContainerStats, noFilesystems, notInMemory } from './memory-answers.ts';

export interface MemoryRuntimeOptions {
  /** So long after its event an exit shows in the status, as containerd does it. */
  readonly exitLagMs: number;
  readonly images: readonly string[];
}

interface MemorySandbox {
  readonly config: PodSandboxConfig;
  readonly status: PodSandboxStatus;
}

interface MemoryContainer {
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly status: ContainerStatus;
}

/** A container runtime that keeps its state and runs nothing. Obeys the contract of `RuntimePort`, the lag of exits included. */
export class MemoryRuntime implements RuntimePort {
  readonly #clock: Clock;
  readonly #options: MemoryRuntimeOptions;
  readonly #sandboxes = new Map<string, MemorySandbox>();
  readonly #containers = new Map<string, MemoryContainer>();
  readonly #images = new Set<string>();
  readonly #streams = new Set<Channel<RuntimeEvent>>();
  /** What every request is told first; tests fail calls with it. */
  before: (call: string) => Promise<void> | void = () => undefined;
  networkReady = true;
  stopExitCode = 143;
  /** Names of the calls that change something, in order. */
  readonly log: string[] = [];
  #ids = 0;

  constructor(clock: Clock, options: Partial<MemoryRuntimeOptions> = {}) {
    this.#clock = clock;
    this.#options = { exitLagMs: 0, images: ['docker.io/library/busybox:latest'], ...options };
    for (const image of this.#options.images) this.#images.add(image);
  }

  /** The container's program ends by itself. */
  exit(containerId: string, exitCode: number): void {
    const container = this.#containers.get(containerId);
    if (container === undefined) return;
    this.#emit({ kind: 'exited', id: containerId });
    const finishedAt = this.#clock.now() * 1e6;
    const settle = () => {
      const now = this.#containers.get(containerId);
      if (now?.status.state !== ContainerState.CONTAINER_RUNNING) return;
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      this.#setContainer(containerId, { state: ContainerState.CONTAINER_EXITED, finishedAt, exitCode, reason });
    };
    if (this.#options.exitLagMs === 0) settle();
    else this.#clock.after(this.#options.exitLagMs, settle);
  }

  /** The pause process dies. */
  killSandbox(sandboxId: string): void {
    this.#emit({ kind: 'exited', id: sandboxId });
    this.#setSandbox(sandboxId, { state: PodSandboxState.SANDBOX_NOTREADY });
  }

  /** Id of the newest container of that name. */
  containerNamed(name: string): string | undefined {
    return [...this.#containers.values()].filter(({ config }) => config.metadata?.name === name).at(-1)?.status.id;
  }

  /** What is there, for comparison. */
  snapshot(): unknown {
    return {
      sandboxes: [...this.#sandboxes.values()].map(({ status }) => `${status.metadata?.name}/${status.metadata?.attempt} ${status.state}`),
      containers: [...this.#containers.values()].map(({ status }) => `${status.metadata?.name}/${status.metadata?.attempt} ${status.state}`),
    };
  }

  async version(): Promise<VersionResponse> {
    return { version: '0.1.0', runtimeName: 'memory', runtimeVersion: '1', runtimeApiVersion: 'v1' };
  }

  async status(signal: AbortSignal): Promise<StatusResponse> {
    await this.#enter('status', signal);
    const conditions = [
      { type: 'RuntimeReady', status: true, reason: '', message: '' },
      {
        type: 'NetworkReady',
        status: this.networkReady,
        reason: 'NetworkPluginNotReady',
        message: this.networkReady ? '' : 'cni plugin not initialized',
      },
    ];
    return { status: { conditions }, info: {}, runtimeHandlers: [], features: undefined };
  }

  async runPodSandbox(config: PodSandboxConfig, _runtimeHandler: string, signal: AbortSignal): Promise<string> {
    await this.#enter('runPodSandbox', signal);
    const metadata = config.metadata;
    const taken = [...this.#sandboxes.values()].find(
      ({ config: { metadata: other } }) => other?.uid === metadata?.uid && other?.attempt === metadata?.attempt,
    );
    if (taken !== undefined)
      throw new NameReserved({ message: `name "${metadata?.name}_${metadata?.uid}" is reserved for "${taken.status.id}"`, details: '' });
    const id = this.#newId('sandbox');
    const hostNetwork = config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
    this.#sandboxes.set(id, {
      config,
      status: {
        id,
        metadata,
        state: PodSandboxState.SANDBOX_READY,
        createdAt: this.#clock.now() * 1e6,
        network: { ip: hostNetwork ? '' : `10.0.0.${this.#ids + 1}`, additionalIps: [] },
        linux: { namespaces: { options: config.linux?.securityContext?.namespaceOptions } },
        labels: config.labels,
        annotations: config.annotations,
        runtimeHandler: '',
      },
    });
    this.#emit({ kind: 'created', id }, { kind: 'started', id });
    return id;
  }

  async stopPodSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#enter('stopPodSandbox', signal);
    for (const [id, { sandboxId: owner }] of this.#containers) if (owner === sandboxId) this.#end(id, 137);
    if (this.#sandboxes.get(sandboxId)?.status.state !== PodSandboxState.SANDBOX_READY) return;
    this.#setSandbox(sandboxId, { state: PodSandboxState.SANDBOX_NOTREADY });
    this.#emit({ kind: 'exited', id: sandboxId });
  }

  async removePodSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#enter('removePodSandbox', signal);
    for (const [id, { sandboxId: owner }] of [...this.#containers]) if (owner === sandboxId) this.#containers.delete(id);
    if (this.#sandboxes.delete(sandboxId)) this.#emit({ kind: 'deleted', id: sandboxId });
  }

  async podSandboxStatus(sandboxId: string, signal: AbortSignal): Promise<PodSandboxStatus | undefined> {
    await this.#enter('podSandboxStatus', signal);
    return this.#sandboxes.get(sandboxId)?.status;
  }

  async listPodSandboxes(filter: Partial<PodSandboxFilter>, signal: AbortSignal): Promise<readonly PodSandbox[]> {
    await this.#enter('listPodSandboxes', signal);
    return [...this.#sandboxes.values()].map(({ status }) => status).filter(({ labels }) => matches(labels, filter.labelSelector));
  }

  async createContainer(sandboxId: string, config: ContainerConfig, _sandboxConfig: PodSandboxConfig, signal: AbortSignal): Promise<string> {
    await this.#enter('createContainer', signal);
    if (!this.#sandboxes.has(sandboxId)) throw new NotFound({ message: `sandbox ${sandboxId} not found` });
    const id = this.#newId(config.metadata?.name ?? 'container');
    this.#containers.set(id, {
      sandboxId,
      config,
      status: createdStatus(id, config, this.#sandboxes.get(sandboxId)?.config.logDirectory ?? '', this.#clock.now() * 1e6),
    });
    this.#emit({ kind: 'created', id });
    return id;
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#enter('startContainer', signal);
    const container = this.#containers.get(containerId);
    if (container === undefined) throw new NotFound({ message: `container ${containerId} not found` });
    if (container.status.state !== ContainerState.CONTAINER_CREATED)
      throw new WrongState({ message: `container ${containerId} was started before`, details: '' });
    this.#setContainer(containerId, { state: ContainerState.CONTAINER_RUNNING, startedAt: this.#clock.now() * 1e6 });
    this.#emit({ kind: 'started', id: containerId });
  }

  async stopContainer(containerId: string, _timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    await this.#enter('stopContainer', signal);
    this.#end(containerId, this.stopExitCode);
  }

  async removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#enter('removeContainer', signal);
    if (this.#containers.delete(containerId)) this.#emit({ kind: 'deleted', id: containerId });
  }

  async listContainers(filter: Partial<ContainerFilter>, signal: AbortSignal): Promise<readonly Container[]> {
    await this.#enter('listContainers', signal);
    return [...this.#containers.values()]
      .filter(({ status }) => matches(status.labels, filter.labelSelector))
      .map(({ status, sandboxId }) => ({ ...status, podSandboxId: sandboxId }));
  }

  async containerStatus(containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> {
    await this.#enter('containerStatus', signal);
    return this.#containers.get(containerId)?.status;
  }

  async cgroupDriver(): Promise<undefined> {}

  async updatePodSandboxResources(_sandboxId: string, _resources: unknown, _overhead: unknown, signal: AbortSignal): Promise<void> {
    await this.#enter('updatePodSandboxResources', signal);
  }

  async updateContainerResources(_containerId: string, _linux: unknown, signal: AbortSignal): Promise<void> {
    await this.#enter('updateContainerResources', signal);
  }

  async reopenContainerLog(_containerId: string, signal: AbortSignal): Promise<void> {
    await this.#enter('reopenContainerLog', signal);
  }

  async execSync(_containerId: string, command: readonly string[], _timeoutSeconds: number, signal: AbortSignal): Promise<ExecSyncResponse> {
    await this.#enter(`execSync ${command.join(' ')}`, signal);
    return { stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: command[0] === 'false' ? 1 : 0 };
  }

  readonly checkpointContainer = notInMemory;
  readonly exec = notInMemory;
  readonly attach = notInMemory;
  readonly portForward = notInMemory;

  async imageStatus(image: ImageSpec, signal: AbortSignal): Promise<Image | undefined> {
    await this.#enter('imageStatus', signal);
    return this.#images.has(image.image) ? imageOf(image.image) : undefined;
  }

  listImages = async (): Promise<readonly Image[]> => [...this.#images].map(imageOf);

  async pullImage(image: ImageSpec, _auth: unknown, _sandboxConfig: unknown, signal: AbortSignal): Promise<string> {
    await this.#enter(`pullImage ${image.image}`, signal);
    if (image.image.includes('missing')) throw new ImageNotFound({ message: `${image.image}: not found`, details: `${image.image}: not found` });
    this.#images.add(image.image);
    return imageOf(image.image).id;
  }

  async removeImage(image: ImageSpec): Promise<void> {
    this.#images.delete(image.image);
  }

  readonly listContainerStats = noContainerStats;
  readonly imageFsInfo = noFilesystems;

  async *events(signal: AbortSignal): AsyncGenerator<RuntimeEvent, void, void> {
    const stream = new Channel<RuntimeEvent>();
    this.#streams.add(stream);
    try {
      yield { kind: 'connected' };
      yield* stream.take(signal);
    } finally {
      this.#streams.delete(stream);
    }
  }

  async #enter(call: string, signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    await this.before(call);
    if (!/^(list|status|container|podSandbox|imageStatus)/.test(call)) this.log.push(call);
  }

  #end(containerId: string, exitCode: number): void {
    if (this.#containers.get(containerId)?.status.state !== ContainerState.CONTAINER_RUNNING) return;
    const finishedAt = this.#clock.now() * 1e6;
    this.#setContainer(containerId, { state: ContainerState.CONTAINER_EXITED, finishedAt, exitCode, reason: 'Error' });
    this.#emit({ kind: 'exited', id: containerId });
  }

  #setContainer(id: string, change: Partial<ContainerStatus>): void {
    const container = this.#containers.get(id);
    if (container !== undefined) this.#containers.set(id, { ...container, status: { ...container.status, ...change } });
  }

  #setSandbox(id: string, change: Partial<PodSandboxStatus>): void {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox !== undefined) this.#sandboxes.set(id, { ...sandbox, status: { ...sandbox.status, ...change } });
  }

  #newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}-${this.#ids}`;
  }

  #emit(...events: readonly RuntimeEvent[]): void {
    for (const stream of this.#streams) for (const event of events) stream.push(event);
  }
}
