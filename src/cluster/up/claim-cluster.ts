import { AppError, InvalidInput } from '#base/errors.ts';
import { chooseSettings } from '../choose-settings.ts';
import { clusterPaths, defaultDataDir } from '../cluster-paths.ts';
import { clusterNames, type FoundCluster, findCluster, isLive } from '../find-clusters.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { type ClusterSettings, encodeSettings } from '../settings.ts';
import type { UpOptions } from '../up-options.ts';
import { withHostLock } from './host-lock.ts';

/** The name belongs to another data folder. */
export class NameTaken extends AppError {
  readonly code = 'NAME_TAKEN';
  readonly retry = 'never';
}

export interface ClaimedCluster {
  readonly cluster: FoundCluster;
  readonly settings: ClusterSettings;
}

/**
 * Takes the cluster's name, ranges and ports on this host and writes them down. A cluster that is running keeps what it has.
 *
 * @throws {NameTaken} when a cluster of that name lives in another data folder
 */
export async function claimCluster(options: UpOptions, host: ClusterHost, signal: AbortSignal): Promise<ClaimedCluster> {
  return await withHostLock(host.sockets, signal, async () => {
    const dataDir = options.dataDir ?? defaultDataDir(options.name);
    const found = await findCluster(options.name, dataDir, host);
    const live = isLive(found);
    if (live && found.paths.dataDir !== dataDir && options.dataDir !== undefined) {
      throw new NameTaken({
        message: `cluster ${options.name} is running with its data in ${found.paths.dataDir}, not in ${dataDir}`,
        hint: 'choose another --name, or stop it first with `kubernode down`',
      });
    }
    if (live && found.settings !== undefined) {
      refuseChanges(options, found.settings);
      return { cluster: found, settings: found.settings };
    }
    const paths = clusterPaths(found.names.runDir, dataDir);
    const remembered = found.paths.dataDir === dataDir ? found.settings : (await findCluster(options.name, dataDir, host)).settings;
    const settings = await chooseSettings(options, { dataDir, remembered, others: await otherClusters(options.name, host) }, host, signal);
    await host.files.ensureDirectory(paths.runDir, 0o711);
    await host.files.ensureDirectory(dataDir, 0o711);
    await host.files.ensureDirectory(paths.partLogs, 0o700);
    await host.files.link(dataDir, paths.dataLink);
    await host.files.write(paths.settingsFile, encodeSettings(settings), 0o600);
    return { cluster: { ...found, paths, settings }, settings };
  });
}

function refuseChanges(options: UpOptions, settings: ClusterSettings): void {
  const changes = [
    options.port !== undefined && options.port !== 0 && options.port !== settings.apiPort
      ? `--port ${options.port} (it has ${settings.apiPort})`
      : '',
    options.apiOnly !== undefined && options.apiOnly !== settings.apiOnly ? '--api-only' : '',
    options.podCIDR !== undefined && options.podCIDR !== settings.podCIDR ? `--pod-cidr ${options.podCIDR} (it has ${settings.podCIDR})` : '',
    options.runtimeEndpoint !== undefined && options.runtimeEndpoint !== settings.runtime.endpoint
      ? `--runtime-endpoint ${options.runtimeEndpoint}`
      : '',
    options.store !== undefined && JSON.stringify(options.store) !== JSON.stringify(settings.store) ? '--store' : '',
  ].filter((change) => change !== '');
  if (changes.length > 0) {
    throw new InvalidInput({
      message: `cluster ${settings.name} is running and cannot take ${changes.join(', ')}`,
      hint: 'stop it first with `kubernode down`',
    });
  }
}

async function otherClusters(name: string, host: ClusterHost): Promise<readonly ClusterSettings[]> {
  const others = (await clusterNames(host)).filter((other) => other !== name);
  return (await Promise.all(others.map((other) => findCluster(other, undefined, host)))).flatMap(({ settings }) => settings ?? []);
}
