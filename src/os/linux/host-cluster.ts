import { hostname } from 'node:os';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { ClusterHost } from '#cluster/ports/cluster-host.ts';
import { createHostCgroups } from './host-cgroups.ts';
import { createHostFiles } from './host-files.ts';
import { createHostMounts } from './host-mounts.ts';
import { createHostNetwork } from './host-network.ts';
import { createHostProcesses } from './host-processes.ts';
import { createHostSockets } from './host-sockets.ts';

/** This Linux host, for its side of a cluster. */
export function createClusterHost(clock: Clock, log: Logger): ClusterHost {
  const processes = createHostProcesses();
  return {
    processes,
    files: createHostFiles(),
    network: createHostNetwork(processes),
    mounts: createHostMounts(processes),
    sockets: createHostSockets(),
    cgroups: createHostCgroups(),
    clock,
    log,
    hostName: hostname().toLowerCase(),
    isRoot: process.getuid?.() === 0,
    isLinux: true,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  };
}
