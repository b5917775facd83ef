import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { HostCgroups } from './ports/cgroups.ts';
import type { HostFiles } from './ports/files.ts';
import type { HostMounts } from './ports/mounts.ts';
import type { HostNetwork } from './ports/network.ts';
import type { HostProcesses } from './ports/processes.ts';
import type { HostSockets } from './ports/sockets.ts';

/** Everything of the host that a cluster's host side works with. */
export interface ClusterHost {
  readonly processes: HostProcesses;
  readonly files: HostFiles;
  readonly network: HostNetwork;
  readonly mounts: HostMounts;
  readonly sockets: HostSockets;
  readonly cgroups: HostCgroups;
  readonly clock: Clock;
  readonly log: Logger;
  /** The host's own name, in lower case. */
  readonly hostName: string;
  readonly isRoot: boolean;
  /** As Go spells it: `amd64`. */
  readonly architecture: string;
}
