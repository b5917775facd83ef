import { AppError } from '#base/errors.ts';
import { type FoundCluster, findCluster, isLive, type PartName } from '../find-clusters.ts';
import { gatherHostObjects, type HostObjects } from '../inventory/host-objects.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { ProcessIdentity } from '../ports/processes.ts';
import { liveProcess } from '../supervisor/process-file.ts';
import { quitSupervisor } from '../supervisor/supervisor-client.ts';
import { removePodLogs } from './remove-pod-logs.ts';
import { removePods } from './remove-pods.ts';
import { sweep } from './sweep.ts';

export interface DownOptions {
  readonly name: string;
  readonly dataDir?: string | undefined;
  /** Removes the data as well. */
  readonly purge?: boolean | undefined;
}

export interface DownResult {
  /** Whether there was anything of that cluster. */
  readonly existed: boolean;
}

/** The cluster of that name is not the one that was meant. */
export class OtherData extends AppError {
  readonly code = 'OTHER_DATA';
  readonly retry = 'never';
}

/**
 * Stops the cluster and removes everything that it made on the host. Works on one that is half dead, or was never quite started, without its
 * supervisor; may be called again after it failed.
 *
 * @throws {OtherData} when the name belongs to another data folder; {Unavailable} when something could not be removed, after removing all else
 */
export async function down(options: DownOptions, host: ClusterHost, progress: (message: string) => void, signal: AbortSignal): Promise<DownResult> {
  const cluster = await findCluster(options.name, options.dataDir, host);
  if (options.dataDir !== undefined && options.dataDir !== cluster.paths.dataDir) {
    throw new OtherData({
      message: `cluster ${options.name} has its data in ${cluster.paths.dataDir}, not in ${options.dataDir}`,
      hint: 'leave --data-dir out, or give that folder',
    });
  }
  const objects = await gatherHostObjects(cluster, host, signal);
  const hasData = await host.files.exists(cluster.paths.dataDir);
  if (!isLive(cluster) && !cluster.hasRunDir && !hasObjects(objects, cluster)) {
    if (options.purge === true && hasData) await purge(cluster, progress, host);
    return { existed: options.purge === true && hasData };
  }
  await quitSupervisor(host.sockets, cluster.paths.supervisorSocket, signal);
  await endPart('supervisor', 5000, cluster, host, signal);
  await Promise.all([endPart('kubelet', 10_000, cluster, host, signal), endPart('control-plane', 10_000, cluster, host, signal)]);
  progress('control plane and kubelet are stopped');
  if (cluster.settings?.apiOnly !== true) {
    await removePods(cluster, cluster.runtime, progress, host, signal);
    await endPart('containerd', 10_000, cluster, host, signal);
    progress('pods and the container runtime are stopped');
  }
  await removePodLogs(cluster, objects, host);
  await sweep(cluster, await gatherHostObjects(cluster, host, signal), host, signal);
  progress('what it made on this host is removed');
  if (options.purge === true) await purge(cluster, progress, host);
  return { existed: true };
}

function hasObjects(objects: HostObjects, cluster: FoundCluster): boolean {
  const { shims, mounts, bridge, links, attachments, cgroups, hostPortRules, rules } = objects;
  return (
    [shims, mounts, links, attachments, cgroups, hostPortRules].some((list) => list.length > 0) ||
    bridge !== undefined ||
    rules.includes(`:${cluster.names.iptablesChain} `)
  );
}

async function endPart(part: PartName, graceMs: number, cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const process = await liveProcess(host.files, host.processes, cluster.paths.processFile(part));
  if (process !== undefined) await endProcess(process, graceMs, host, signal);
}

/** Asks, then insists. */
export async function endProcess(process: ProcessIdentity, graceMs: number, host: ClusterHost, signal: AbortSignal): Promise<void> {
  await host.processes.signal(process, 'SIGTERM');
  const late = host.clock.after(graceMs, () => void host.processes.signal(process, 'SIGKILL'));
  await host.processes.whenGone(process, signal);
  late.cancel();
}

async function purge(cluster: FoundCluster, progress: (message: string) => void, host: ClusterHost): Promise<void> {
  await host.files.removeTree(cluster.paths.dataDir);
  progress(`the data in ${cluster.paths.dataDir} is removed`);
}
