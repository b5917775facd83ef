import { AppError } from '#base/errors.ts';
import { firstAddressOf } from '../choose-pod-range.ts';
import type { ClusterPaths } from '../cluster-paths.ts';
import { sweepObjects } from '../down/sweep.ts';
import type { HostNames } from '../host-names.ts';
import { gatherHostObjects } from '../inventory/host-objects.ts';
import { controlPlanePart, kubeletPart, logFile, stdoutFile, supervisorProgram } from '../parts.ts';
import { ensurePki } from '../pki-files.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { ClusterSettings } from '../settings.ts';
import { isReadyLine } from '../supervisor/part.ts';
import { writeProcessFile } from '../supervisor/process-file.ts';
import { ensureParts } from '../supervisor/supervisor-client.ts';
import type { UpOptions } from '../up-options.ts';
import { claimCluster } from './claim-cluster.ts';
import { withHostLock } from './host-lock.ts';
import { prepareNetwork } from './prepare-network.ts';
import { launchRuntime, prepareRuntime } from './start-runtime.ts';
import { waitForNode } from './wait-for-node.ts';
import { PartFailed, untilPartFails, waitForParts } from './wait-for-parts.ts';

export interface UpResult {
  readonly settings: ClusterSettings;
  readonly names: HostNames;
  readonly paths: ClusterPaths;
  /** `https://host:port` */
  readonly server: string;
  /** Of the administrator; mode 0600. */
  readonly kubeconfig: string;
}

/** This host, or this user, cannot have a node. */
export class CannotRunNode extends AppError {
  readonly code = 'CANNOT_RUN_NODE';
  readonly retry = 'never';
}

const nodeReadyWithinMs = 120_000;
const memoryVolumesBytes = 2 * 1024 ** 3;

/**
 * Starts the cluster, or what is missing of it, and returns when its node is Ready. May be called at any time, again, and beside another one.
 *
 * @param progress gets a sentence for each thing that is done
 */
export async function up(options: UpOptions, host: ClusterHost, progress: (message: string) => void, signal: AbortSignal): Promise<UpResult> {
  if (options.apiOnly !== true && !(host.isLinux && host.isRoot)) {
    const needed = host.isLinux ? 'root' : 'Linux';
    throw new CannotRunNode({
      message: `a node needs ${needed}: its runtime mounts, and makes namespaces`,
      hint: `${host.isLinux ? 'run as root, or ' : ''}start the control plane alone with --api-only`,
    });
  }
  const { cluster, settings } = await claimCluster(options, host, signal);
  const { names, paths } = cluster;
  progress(
    `cluster ${settings.name}: data in ${settings.dataDir}, API port ${settings.apiPort}${settings.apiOnly ? '' : `, pods in ${settings.podCIDR}`}`,
  );
  // A run folder that vanished took the knowledge of its cluster with it: a reboot, or somebody tidied up.
  if (!settings.apiOnly && !cluster.hasRunDir) await sweepObjects(cluster, await gatherHostObjects(cluster, host, signal), host, signal);
  // The certificate library loads while the supervisor's process starts.
  await together((until) => [ensureSupervisor(settings, paths, options, host, until), issueCertificates(settings, paths, host)], signal);
  await together(
    (until) => [
      startControlPlane(settings, paths, options, host, until),
      ...(settings.apiOnly ? [] : [startRuntime(settings, names, paths, progress, host, until)]),
      waitForParts(settings.apiOnly ? ['control-plane'] : ['control-plane', 'kubelet'], paths, progress, host, until),
    ],
    signal,
  );
  if (!settings.apiOnly) {
    await waitForNode(paths.adminKubeconfig, settings.nodeName, nodeReadyWithinMs, host, signal);
    progress(`node ${settings.nodeName} is Ready`);
  }
  return { settings, names, paths, server: serverOf(settings), kubeconfig: paths.adminKubeconfig };
}

export function serverOf(settings: Pick<ClusterSettings, 'apiAddress' | 'apiPort'>): string {
  return `https://${settings.apiAddress}:${settings.apiPort}`;
}

/** One failure ends the other branches, and is thrown when all have ended. */
async function together(start: (signal: AbortSignal) => readonly Promise<void>[], signal: AbortSignal): Promise<void> {
  const failed = new AbortController();
  const branches = start(AbortSignal.any([signal, failed.signal]));
  try {
    await Promise.all(branches);
  } catch (error) {
    failed.abort();
    await Promise.allSettled(branches);
    throw error;
  }
}

async function issueCertificates(settings: ClusterSettings, paths: ClusterPaths, host: ClusterHost): Promise<void> {
  const identity = {
    nodeName: settings.nodeName,
    hostAddresses: [settings.nodeAddress],
    firstServiceAddress: firstAddressOf(settings.serviceCIDR),
  };
  await ensurePki(host.files, paths, { identity, clusterName: settings.name, server: serverOf(settings) }, host.clock);
}

async function startControlPlane(
  settings: ClusterSettings,
  paths: ClusterPaths,
  options: UpOptions,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  // Before the kubelet, whose volumes lie there.
  if (!settings.apiOnly) await host.mounts.ensureTmpfs(paths.memoryVolumes, memoryVolumesBytes, signal);
  const { apiOnly, timings } = settings;
  const parts = [controlPlanePart(paths, options.programs, timings), ...(apiOnly ? [] : [kubeletPart(paths, options.programs, timings)])];
  await ensureParts(host.sockets, paths.supervisorSocket, parts, signal);
}

async function startRuntime(
  settings: ClusterSettings,
  names: HostNames,
  paths: ClusterPaths,
  progress: (message: string) => void,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  const isPrivate = settings.runtime.kind === 'private';
  const settled = new AbortController();
  const watching = AbortSignal.any([signal, settled.signal]);
  const work = Promise.all([
    prepareNetwork(settings, names, paths, host, signal),
    isPrivate ? launchRuntime(settings, paths, host, signal) : undefined,
    prepareRuntime(settings, progress, host, signal),
  ]);
  try {
    await (isPrivate ? Promise.race([work, untilPartFails('containerd', paths, host, watching)]) : work);
  } finally {
    settled.abort();
  }
}

/** The one that is there goes on; a new one takes up the parts that live. */
async function ensureSupervisor(
  settings: ClusterSettings,
  paths: ClusterPaths,
  options: UpOptions,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  await withHostLock(host.sockets, signal, () => launchSupervisor(settings, paths, options, host, signal));
}

async function launchSupervisor(
  settings: ClusterSettings,
  paths: ClusterPaths,
  options: UpOptions,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  const connection = await host.sockets.connect(paths.supervisorSocket);
  connection?.close();
  if (connection !== undefined) return;
  const { program, args } = supervisorProgram(paths, settings.name, options.programs);
  const output = stdoutFile(paths, 'supervisor');
  const log = logFile(paths, 'supervisor');
  await host.files.rotate(log, 16 * 1024 * 1024);
  const launched = await host.processes.launch({ program, args, stdoutFile: output, stderrFile: log, lifeline: false });
  await writeProcessFile(host.files, paths.processFile('supervisor'), launched);
  const ended = launched.ended.then(async (how) => {
    throw new PartFailed({
      message: `the supervisor ended with ${how}: ${((await host.files.readText(log)) ?? '').trim().split('\n').at(-1)}`,
      hint: `see ${log}`,
    });
  });
  const settled = new AbortController();
  try {
    await Promise.race([host.files.waitForText(output, isReadyLine, AbortSignal.any([signal, settled.signal])), ended]);
  } finally {
    settled.abort();
  }
}
