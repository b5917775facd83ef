import type {
  AuthConfig,
  Container,
  ContainerConfig,
  ContainerFilter,
  ContainerStats,
  ContainerStatsFilter,
  ContainerStatus,
  ExecSyncResponse,
  Image,
  ImageFsInfoResponse,
  ImageSpec,
  LinuxContainerResources,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxStatus,
  StatusResponse,
  VersionResponse,
} from '#wire/generated/cri.ts';

/**
 * The container runtime, in CRI v1's own messages. Failures are the `AppError`s of `wire/cri/errors.ts`. What is not there is
 * `undefined` for a status, and no error for stop and remove (CRI makes both idempotent).
 */
export interface RuntimePort {
  version(signal: AbortSignal): Promise<VersionResponse>;
  status(signal: AbortSignal): Promise<StatusResponse>;
  /** @returns undefined when the answer has no part for Linux @throws {Unsupported} before containerd 2.0 */
  cgroupDriver(signal: AbortSignal): Promise<'cgroupfs' | 'systemd' | undefined>;

  /** @returns the sandbox's id. A name that is still reserved is `NameReserved` */
  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string>;
  stopPodSandbox(sandboxId: string, signal: AbortSignal): Promise<void>;
  removePodSandbox(sandboxId: string, signal: AbortSignal): Promise<void>;
  podSandboxStatus(sandboxId: string, signal: AbortSignal): Promise<PodSandboxStatus | undefined>;
  listPodSandboxes(filter: Partial<PodSandboxFilter>, signal: AbortSignal): Promise<readonly PodSandbox[]>;

  createContainer(sandboxId: string, config: ContainerConfig, sandboxConfig: PodSandboxConfig, signal: AbortSignal): Promise<string>;
  startContainer(containerId: string, signal: AbortSignal): Promise<void>;
  stopContainer(containerId: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>;
  removeContainer(containerId: string, signal: AbortSignal): Promise<void>;
  listContainers(filter: Partial<ContainerFilter>, signal: AbortSignal): Promise<readonly Container[]>;
  containerStatus(containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined>;
  /** The runtime asks a process a container: not for every second. */
  listContainerStats(filter: Partial<ContainerStatsFilter>, signal: AbortSignal): Promise<readonly ContainerStats[]>;
  updateContainerResources(containerId: string, linux: LinuxContainerResources, signal: AbortSignal): Promise<void>;
  /** Tells the runtime what its pod may use from now on. @throws {Unsupported} before containerd 2.1 */
  updatePodSandboxResources(
    sandboxId: string,
    resources: LinuxContainerResources,
    overhead: LinuxContainerResources,
    signal: AbortSignal,
  ): Promise<void>;
  /** @param timeoutSeconds 0: none @throws {Unsupported} when the runtime cannot */
  checkpointContainer(containerId: string, location: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>;
  reopenContainerLog(containerId: string, signal: AbortSignal): Promise<void>;
  /** @param timeoutSeconds 0: none */
  execSync(containerId: string, command: readonly string[], timeoutSeconds: number, signal: AbortSignal): Promise<ExecSyncResponse>;

  /** The three answer the URL of the runtime's own streaming server. */
  exec(request: ExecStreamRequest, signal: AbortSignal): Promise<string>;
  attach(request: Omit<ExecStreamRequest, 'command'>, signal: AbortSignal): Promise<string>;
  portForward(sandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string>;

  imageStatus(image: ImageSpec, signal: AbortSignal): Promise<Image | undefined>;
  listImages(signal: AbortSignal): Promise<readonly Image[]>;
  /** @returns the image's reference for `CreateContainer` */
  pullImage(image: ImageSpec, auth: AuthConfig | undefined, sandboxConfig: PodSandboxConfig | undefined, signal: AbortSignal): Promise<string>;
  removeImage(image: ImageSpec, signal: AbortSignal): Promise<void>;
  imageFsInfo(signal: AbortSignal): Promise<ImageFsInfoResponse>;

  /**
   * What happens in the runtime, as it says so itself, until the signal is aborted. The stream may lose events while it is broken: after
   * `connected` the reader must look at everything.
   *
   * @throws {Unsupported} when the runtime offers no events; {Unavailable} when the stream broke
   */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
}

export interface ExecStreamRequest {
  readonly containerId: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** An exit is a promise, not a state: the runtime's own status shows it up to 50 ms later (design, 4). */
export type RuntimeEvent =
  | { readonly kind: 'connected' }
  /** `id` is of a container or of a sandbox (a sandbox is its pause container). */
  | { readonly kind: 'created' | 'started' | 'exited' | 'deleted' | 'oom'; readonly id: string }
  | { readonly kind: 'image'; readonly name: string };
