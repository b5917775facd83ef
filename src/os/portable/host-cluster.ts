import { hostname } from 'node:os';
import type { Clock } from '#base/clock.ts';
import { Unavailable } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { ClusterHost } from '#cluster/ports/cluster-host.ts';
import { createHostFiles } from '../linux/host-files.ts';
import { createHostNetwork } from '../linux/host-network.ts';
import { createHostProcesses } from '../linux/host-processes.ts';
import { createHostSockets } from '../linux/host-sockets.ts';
import { processLocks } from './process-locks.ts';
import { portableProcesses } from './process-table.ts';

/** A host that is not Linux: it can have control planes, and nothing of a node. */
export function createPortableHost(clock: Clock, log: Logger): ClusterHost {
  const processes = createHostProcesses(portableProcesses);
  const { freePort, isPortFree } = createHostNetwork(processes);
  return {
    processes,
    files: createHostFiles(() => []),
    network: {
      links: async () => [],
      routes: async () => [],
      outwardAddress: async () => ({ address: '127.0.0.1', mtu: 1500 }),
      ensureBridge: onLinuxOnly,
      deleteLink: nothingIsThere,
      enableForwarding: onLinuxOnly,
      rules: async () => '',
      changeRules: onLinuxOnly,
      freePort,
      isPortFree,
    },
    mounts: { ensureTmpfs: onLinuxOnly, unmount: nothingIsThere, listBelow: async () => [], canOverlay: async () => false },
    sockets: { ...createHostSockets(), ...processLocks, listening: async () => [] },
    cgroups: { listBelow: async () => [], processesIn: async () => [], removeTree: nothingIsThere },
    clock,
    log,
    hostName: hostname().toLowerCase(),
    isRoot: false,
    isLinux: false,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  };
}

/** What nodes make on a host, and what a cluster's end removes. */
async function nothingIsThere(): Promise<void> {}

async function onLinuxOnly(): Promise<never> {
  throw new Unavailable({ message: 'only Linux has what a node needs', hint: 'use --api-only' });
}
