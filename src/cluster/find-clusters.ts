import { dirname } from 'node:path';
import { messageOf } from '#base/errors.ts';
import { type ClusterPaths, clusterPaths, defaultDataDir, logPaths } from './cluster-paths.ts';
import { type HostNames, hostNames } from './host-names.ts';
import { readLoneNode } from './lone-node-file.ts';
import type { ClusterHost } from './ports/cluster-host.ts';
import type { ProcessIdentity } from './ports/processes.ts';
import { type ClusterSettings, parseSettings, type RuntimeSettings } from './settings.ts';
import { liveProcess } from './supervisor/process-file.ts';

/** What this host has of a cluster. */
export interface FoundCluster {
  readonly names: HostNames;
  readonly paths: ClusterPaths;
  /** Absent when it never came so far, or the file cannot be read. */
  readonly settings: ClusterSettings | undefined;
  /** Of its node; absent for a control plane alone. */
  readonly runtime: Pick<RuntimeSettings, 'kind' | 'endpoint'> | undefined;
  readonly hasRunDir: boolean;
  readonly hasSupervisor: boolean;
  /** By part, those that live. */
  readonly processes: Readonly<Record<string, ProcessIdentity>>;
}

export const partNames = ['supervisor', 'containerd', 'control-plane', 'kubelet'] as const;
export type PartName = (typeof partNames)[number];

/** @param dataDir where to look when nothing in the run folder says it */
export async function findCluster(name: string, dataDir: string | undefined, host: ClusterHost): Promise<FoundCluster> {
  const names = hostNames(name);
  const linked = await host.files.readLink(`${names.runDir}/data`);
  const lone = await readLoneNode(names.runDir, host);
  const defaults = clusterPaths(names.runDir, linked ?? dataDir ?? defaultDataDir(name));
  const paths = lone === undefined ? defaults : { ...defaults, kubeletRoot: lone.rootDirectory, ...logPaths(defaults, lone.podLogs) };
  const [settings, hasRunDir, hasSupervisor, processes] = await Promise.all([
    readSettings(paths, host),
    host.files.exists(names.runDir),
    host.sockets.isHeld(names.lockSocket),
    liveParts(paths, host),
  ]);
  const ofSettings = settings?.apiOnly === false ? settings.runtime : undefined;
  const runtime = lone === undefined ? ofSettings : ({ kind: 'external', endpoint: lone.runtimeEndpoint } as const);
  return { names, paths, settings, runtime, hasRunDir, hasSupervisor, processes };
}

export function isLive(cluster: FoundCluster): boolean {
  return cluster.hasSupervisor || Object.keys(cluster.processes).length > 0;
}

/** Names of all clusters that have a run folder. */
export async function clusterNames(host: ClusterHost): Promise<readonly string[]> {
  const root = dirname(hostNames('x').runDir);
  return (await host.files.list(root)).filter((entry) => entry.isDirectory).map((entry) => entry.name);
}

async function readSettings(paths: ClusterPaths, host: ClusterHost): Promise<ClusterSettings | undefined> {
  const text = await host.files.readText(paths.settingsFile);
  if (text === undefined) return undefined;
  try {
    return parseSettings(text, paths.settingsFile);
  } catch (error) {
    host.log.warn('settings unreadable', { file: paths.settingsFile, error: messageOf(error) });
    return undefined;
  }
}

async function liveParts(paths: ClusterPaths, host: ClusterHost): Promise<Readonly<Record<string, ProcessIdentity>>> {
  const found = await Promise.all(
    partNames.map(async (part) => [part, await liveProcess(host.files, host.processes, paths.processFile(part))] as const),
  );
  return Object.fromEntries(found.flatMap(([part, process]) => (process === undefined ? [] : [[part, process]])));
}
