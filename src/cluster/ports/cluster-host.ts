import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { HostCgroups } from './cgroups.ts';
import type { HostFiles } from './files.ts';
import type { HostMounts } from './mounts.ts';
import type { HostNetwork } from './network.ts';
import type { HostProcesses } from './processes.ts';
import type { HostSockets } from './sockets.ts';

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
  /** Others can have control planes, and no nodes. */
  readonly isLinux: boolean;
  /** As Go spells it: `amd64`. */
  readonly architecture: string;
}
