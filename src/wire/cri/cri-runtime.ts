import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { containerdDownloads, type Download } from '../containerd/downloads.ts';
import {
  type AuthConfig,
  CgroupDriver,
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerStats,
  type ContainerStatsFilter,
  type ContainerStatus,
  type ExecSyncResponse,
  type Image,
  type ImageFsInfoResponse,
  ImageServiceDefinition,
  type ImageSpec,
  type LinuxContainerResources,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxStatus,
  RuntimeServiceDefinition,
  type StatusResponse,
  type VersionResponse,
} from '../generated/cri.ts';
import { type GrpcChannel, openChannel } from '../grpc/channel.ts';
import { type CriCaller, type CriObservers, criCaller, ifThere } from './cri-calls.ts';
import { RuntimeFailed } from './errors.ts';
import type { RuntimeEvent } from './runtime-event.ts';
import { runtimeEvents } from './runtime-events.ts';

export interface CriRuntimeOptions extends CriObservers {
  /** `unix:///path` */
  readonly endpoint: string;
  /** Where images are, if that is another program. */
  readonly imageEndpoint?: string | undefined;
  readonly clock: Clock;
  /** Whether containerd's own event service is used; `auto`: if the runtime has it. */
  readonly containerdEvents: boolean | 'auto';
  /** Of every request; RunPodSandbox gets twice that. Upstream's default: 2 minutes. */
  readonly requestTimeoutMs?: number | undefined;
}

export interface StreamRequest {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export function createCriRuntime(options: CriRuntimeOptions): CriRuntime {
  const { endpoint, imageEndpoint = endpoint, clock } = options;
  const channel = openChannel(endpoint, clock);
  return new CriRuntime(channel, imageEndpoint === endpoint ? channel : openChannel(imageEndpoint, clock), options);
}

const runtimeService = RuntimeServiceDefinition;
const imageService = ImageServiceDefinition;

/** A container runtime that speaks CRI v1. What is not there is `undefined` for a status and no error for stop and remove. */
export class CriRuntime {
  readonly #channel: GrpcChannel;
  readonly #imageChannel: GrpcChannel;
  readonly #call: CriCaller;
  readonly #callImages: CriCaller;
  readonly #clock: Clock;
  readonly #containerdEvents: boolean | 'auto';
  readonly #timeoutMs: number;
  /** Those that are under way, by container. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(channel: GrpcChannel, imageChannel: GrpcChannel, options: Omit<CriRuntimeOptions, 'endpoint' | 'imageEndpoint'>) {
    this.#channel = channel;
    this.#imageChannel = imageChannel;
    this.#call = criCaller(channel, options.clock, options);
    this.#callImages = criCaller(imageChannel, options.clock, options);
    this.#clock = options.clock;
    this.#containerdEvents = options.containerdEvents;
    this.#timeoutMs = options.requestTimeoutMs ?? 120_000;
  }

  close(): void {
    this.#channel.close();
    this.#imageChannel.close();
  }

  async version(signal: AbortSignal): Promise<VersionResponse> {
    return await this.#call(runtimeService, 'version', { version: '0.1.0' }, this.#about('version of the runtime'), signal);
  }

  async status(signal: AbortSignal): Promise<StatusResponse> {
    return await this.#call(runtimeService, 'status', { verbose: false }, this.#about('status of the runtime'), signal);
  }

  async cgroupDriver(signal: AbortSignal): Promise<'cgroupfs' | 'systemd' | undefined> {
    const { linux } = await this.#call(runtimeService, 'runtimeConfig', {}, this.#about('configuration of the runtime'), signal);
    return linux === undefined ? undefined : linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  }

  /** @throws {RuntimeFailed} also when the runtime answers without an id */
  async runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    const doing = `run sandbox ${config.metadata?.namespace}/${config.metadata?.name}`;
    const about = { doing, timeoutMs: 2 * this.#timeoutMs };
    const { podSandboxId } = await this.#call(runtimeService, 'runPodSandbox', { config, runtimeHandler }, about, signal);
    if (podSandboxId === '') throw new RuntimeFailed({ message: `${doing}: the answer has no id`, details: 'PodSandboxId is not set' });
    return podSandboxId;
  }

  async stopPodSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await ifThere(this.#call(runtimeService, 'stopPodSandbox', { podSandboxId }, this.#about(`stop sandbox ${podSandboxId}`), signal));
  }

  async removePodSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await ifThere(this.#call(runtimeService, 'removePodSandbox', { podSandboxId }, this.#about(`remove sandbox ${podSandboxId}`), signal));
  }

  async podSandboxStatus(podSandboxId: string, signal: AbortSignal): Promise<PodSandboxStatus | undefined> {
    const request = { podSandboxId, verbose: false };
    return (await ifThere(this.#call(runtimeService, 'podSandboxStatus', request, this.#about(`status of sandbox ${podSandboxId}`), signal)))?.status;
  }

  async listPodSandboxes(filter: Partial<PodSandboxFilter>, signal: AbortSignal): Promise<readonly PodSandbox[]> {
    const request = { filter: { id: '', state: undefined, labelSelector: {}, ...filter } };
    return (await this.#call(runtimeService, 'listPodSandbox', request, this.#about('list of sandboxes'), signal)).items;
  }

  async createContainer(podSandboxId: string, config: ContainerConfig, sandboxConfig: PodSandboxConfig, signal: AbortSignal): Promise<string> {
    const doing = `create container ${config.metadata?.name}`;
    const { containerId } = await this.#call(runtimeService, 'createContainer', { podSandboxId, config, sandboxConfig }, this.#about(doing), signal);
    if (containerId === '') throw new RuntimeFailed({ message: `${doing}: the answer has no id`, details: 'ContainerId is not set' });
    return containerId;
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(runtimeService, 'startContainer', { containerId }, this.#about(`start container ${containerId}`), signal);
  }

  async stopContainer(containerId: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const about = { doing: `stop container ${containerId}`, timeoutMs: this.#timeoutMs + timeoutSeconds * 1000 };
    await ifThere(this.#call(runtimeService, 'stopContainer', { containerId, timeout: timeoutSeconds }, about, signal));
  }

  /** One after the other for one container: containerd refuses what is asked for while the same is under way. */
  async removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    const before = this.#removals.get(containerId);
    const remove = async () => {
      if (before !== undefined) await endOf(before, signal);
      await ifThere(this.#call(runtimeService, 'removeContainer', { containerId }, this.#about(`remove container ${containerId}`), signal));
    };
    const removal = remove();
    this.#removals.set(containerId, removal);
    try {
      await removal;
    } finally {
      if (this.#removals.get(containerId) === removal) this.#removals.delete(containerId);
    }
  }

  async listContainers(filter: Partial<ContainerFilter>, signal: AbortSignal): Promise<readonly Container[]> {
    const request = { filter: { id: '', state: undefined, podSandboxId: '', labelSelector: {}, ...filter } };
    return (await this.#call(runtimeService, 'listContainers', request, this.#about('list of containers'), signal)).containers;
  }

  async containerStatus(containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> {
    const request = { containerId, verbose: false };
    return (await ifThere(this.#call(runtimeService, 'containerStatus', request, this.#about(`status of container ${containerId}`), signal)))?.status;
  }

  async listContainerStats(filter: Partial<ContainerStatsFilter>, signal: AbortSignal): Promise<readonly ContainerStats[]> {
    const request = { filter: { id: '', podSandboxId: '', labelSelector: {}, ...filter } };
    return (await this.#call(runtimeService, 'listContainerStats', request, this.#about('figures of containers'), signal)).stats;
  }

  async updateContainerResources(containerId: string, linux: LinuxContainerResources, signal: AbortSignal): Promise<void> {
    const request = { containerId, linux, windows: undefined, annotations: {} };
    await this.#call(runtimeService, 'updateContainerResources', request, this.#about(`update resources of container ${containerId}`), signal);
  }

  async updatePodSandboxResources(
    podSandboxId: string,
    resources: LinuxContainerResources,
    overhead: LinuxContainerResources,
    signal: AbortSignal,
  ): Promise<void> {
    const about = this.#about(`update resources of sandbox ${podSandboxId}`);
    await this.#call(runtimeService, 'updatePodSandboxResources', { podSandboxId, resources, overhead }, about, signal);
  }

  async checkpointContainer(containerId: string, location: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const about = { doing: `checkpoint container ${containerId}`, timeoutMs: timeoutSeconds > 0 ? timeoutSeconds * 1000 : undefined };
    await this.#call(runtimeService, 'checkpointContainer', { containerId, location, timeout: timeoutSeconds }, about, signal);
  }

  async reopenContainerLog(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(runtimeService, 'reopenContainerLog', { containerId }, this.#about(`reopen log of container ${containerId}`), signal);
  }

  /** @param timeoutSeconds 0: none */
  async execSync(containerId: string, command: readonly string[], timeoutSeconds: number, signal: AbortSignal): Promise<ExecSyncResponse> {
    const timeoutMs = timeoutSeconds === 0 ? undefined : this.#timeoutMs + timeoutSeconds * 1000;
    const about = { doing: `exec in container ${containerId}`, timeoutMs };
    return await this.#call(runtimeService, 'execSync', { containerId, cmd: [...command], timeout: timeoutSeconds }, about, signal);
  }

  async exec(request: StreamRequest, signal: AbortSignal): Promise<string> {
    const { command, ...rest } = request;
    return (await this.#call(runtimeService, 'exec', { ...rest, cmd: [...command] }, this.#about(`exec in container ${request.containerId}`), signal))
      .url;
  }

  async attach(request: Omit<StreamRequest, 'command'>, signal: AbortSignal): Promise<string> {
    return (await this.#call(runtimeService, 'attach', request, this.#about(`attach to container ${request.containerId}`), signal)).url;
  }

  async portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string> {
    const request = { podSandboxId, port: [...ports] };
    return (await this.#call(runtimeService, 'portForward', request, this.#about(`forward ports of sandbox ${podSandboxId}`), signal)).url;
  }

  async imageStatus(image: ImageSpec, signal: AbortSignal): Promise<Image | undefined> {
    const request = { image, verbose: false };
    return (await ifThere(this.#callImages(imageService, 'imageStatus', request, this.#about(`status of image ${image.image}`), signal)))?.image;
  }

  async listImages(signal: AbortSignal): Promise<readonly Image[]> {
    return (await this.#callImages(imageService, 'listImages', { filter: undefined }, this.#about('list of images'), signal)).images;
  }

  /** @returns the image's reference for `CreateContainer` */
  async pullImage(image: ImageSpec, auth: AuthConfig | undefined, sandboxConfig: PodSandboxConfig | undefined, signal: AbortSignal): Promise<string> {
    const about = { doing: `pull image ${image.image}`, timeoutMs: undefined };
    return (await this.#callImages(imageService, 'pullImage', { image, auth, sandboxConfig }, about, signal)).imageRef;
  }

  async removeImage(image: ImageSpec, signal: AbortSignal): Promise<void> {
    await ifThere(this.#callImages(imageService, 'removeImage', { image }, this.#about(`remove image ${image.image}`), signal));
  }

  async imageFsInfo(signal: AbortSignal): Promise<ImageFsInfoResponse> {
    return await this.#callImages(imageService, 'imageFsInfo', {}, this.#about('file systems of images'), signal);
  }

  /** What containerd downloads; `undefined` from another runtime. */
  async downloads(signal: AbortSignal): Promise<readonly Download[] | undefined> {
    return await containerdDownloads(this.#imageChannel, signal);
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return runtimeEvents(this.#channel, this.#containerdEvents, this.#clock, signal);
  }

  #about(doing: string): { readonly doing: string; readonly timeoutMs: number } {
    return { doing, timeoutMs: this.#timeoutMs };
  }
}

/** Resolves when the work has ended in any way, or when the signal is aborted. */
function endOf(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const forget = onAbort(signal, resolve);
    const end = () => {
      forget();
      resolve();
    };
    work.then(end, end);
  });
}
