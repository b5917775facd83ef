/** What a node is. Nothing here changes while the host is up, but for memory that is added and addresses that come and go. */
export interface HostFacts {
  readonly hostname: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  /** Every size that the kernel offers, also with no pages. */
  readonly hugepages: readonly { readonly sizeBytes: number; readonly pages: number }[];
  /** Kubernetes' word: `amd64`, `arm64`... */
  readonly architecture: string;
  readonly kernelVersion: string;
  /** Such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  /** How many processes and threads the kernel allows at most. */
  readonly maxProcesses: number;
  readonly hasAppArmor: boolean;
  /** Without loopback and link-local ones. */
  readonly addresses: readonly HostAddress[];
  /** `undefined` when there is no default route. */
  readonly defaultRouteInterface: string | undefined;
}

export interface HostAddress {
  readonly interface: string;
  readonly address: string;
  readonly family: 4 | 6;
}

export interface FilesystemFacts {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

export interface HostPort {
  facts(signal: AbortSignal): Promise<HostFacts>;
  /** The file system that holds the path. */
  filesystem(path: string, signal: AbortSignal): Promise<FilesystemFacts>;
}
