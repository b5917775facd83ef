import { AppError, InvalidInput } from '#base/errors.ts';
import { type ClusterPaths, clusterPaths, defaultDataDir, logPaths } from './cluster-paths.ts';
import { findCluster, isLive } from './find-clusters.ts';
import { type HostNames, hostNames } from './host-names.ts';
import { type LoneNodeFacts, loneNodeFile } from './lone-node-file.ts';
import type { ClusterHost } from './ports/cluster-host.ts';
import type { Listener } from './ports/sockets.ts';
import { writeProcessFile } from './supervisor/process-file.ts';

/** The name is taken by a cluster, or by another node, that lives. */
export class NodeNameTaken extends AppError {
  readonly code = 'NAME_TAKEN';
  readonly retry = 'never';
}

export interface LoneNodeOptions {
  readonly name: string;
  readonly dataDir?: string | undefined;
  /** Of the kubelet; default: below the data folder. */
  readonly rootDirectory?: string | undefined;
  /** Default: below the data folder. */
  readonly podLogs?: string | undefined;
  readonly runtimeEndpoint: string;
}

export interface LoneNode {
  readonly names: HostNames;
  readonly paths: ClusterPaths;
  /** Removes what a node without pods has no use for; with pods it stays, for the kubelet's next start or for `down`. */
  leave(signal: AbortSignal): Promise<void>;
}

const memoryVolumesBytes = 2 * 1024 ** 3;

/** Takes the name on this host and prepares what a kubelet without a cluster needs of it. @throws {NodeNameTaken} */
export async function claimLoneNode(options: LoneNodeOptions, host: ClusterHost, signal: AbortSignal): Promise<LoneNode> {
  const names = hostNames(options.name);
  const dataDir = options.dataDir ?? defaultDataDir(options.name);
  if (!dataDir.startsWith('/')) throw new InvalidInput({ message: `--data-dir ${dataDir} is not an absolute path` });
  const lock = await host.sockets.tryHold(names.lockSocket);
  const found = await findCluster(options.name, dataDir, host);
  if (lock === undefined || isLive({ ...found, hasSupervisor: false })) {
    await lock?.close();
    throw new NodeNameTaken({ message: `the name ${options.name} is taken on this host`, hint: 'choose another --name, or stop what has it' });
  }
  const defaults = clusterPaths(names.runDir, dataDir);
  const paths = { ...defaults, kubeletRoot: options.rootDirectory ?? defaults.kubeletRoot, ...logPaths(defaults, options.podLogs) };
  await host.files.ensureDirectory(paths.runDir, 0o711);
  await host.files.ensureDirectory(dataDir, 0o711);
  await host.files.link(dataDir, paths.dataLink);
  const facts: LoneNodeFacts = { rootDirectory: paths.kubeletRoot, runtimeEndpoint: options.runtimeEndpoint, podLogs: options.podLogs };
  await host.files.write(loneNodeFile(names.runDir), `${JSON.stringify(facts)}\n`, 0o644);
  const self = await host.processes.identify(process.pid);
  if (self !== undefined) await writeProcessFile(host.files, paths.processFile('kubelet'), self);
  await host.mounts.ensureTmpfs(paths.memoryVolumes, memoryVolumesBytes, signal);
  return { names, paths, leave: (inner) => leave(names, paths, lock, host, inner) };
}

async function leave(names: HostNames, paths: ClusterPaths, lock: Listener, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const pods = await host.files.list(`${paths.kubeletRoot}/pods`);
  if (pods.length === 0) {
    await host.mounts.unmount(paths.memoryVolumes, signal);
    for (const root of [names.cgroupRoot, names.sliceRoot]) await host.cgroups.removeTree(root);
    await host.files.removeTree(paths.runDir);
  } else await host.files.remove(paths.processFile('kubelet'));
  await lock.close();
}
