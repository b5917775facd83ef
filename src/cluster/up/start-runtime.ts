import { Unavailable } from '#base/errors.ts';
import { type CriRuntime, createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { RuntimeUnreachable } from '#wire/cri/errors.ts';
import type { ClusterPaths } from '../cluster-paths.ts';
import { CannotLoadImages, ensureBuiltInImages } from '../images/runtime-images.ts';
import { containerdPart } from '../parts.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { runtimeConfig } from '../runtime-config.ts';
import type { ClusterSettings } from '../settings.ts';
import { ensureParts } from '../supervisor/supervisor-client.ts';

const capSysResource = 24;

/** Has the cluster's own containerd started. */
export async function launchRuntime(settings: ClusterSettings, paths: ClusterPaths, host: ClusterHost, signal: AbortSignal): Promise<void> {
  await writeRuntimeConfig(settings, paths, host, signal);
  await ensureParts(host.sockets, paths.supervisorSocket, [containerdPart(paths, settings.timings)], signal);
}

export async function writeRuntimeConfig(settings: ClusterSettings, paths: ClusterPaths, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const [version, canRaiseOomScore] = await Promise.all([
    host.processes.run('containerd', ['--version'], '', signal),
    host.processes.hasCapability(capSysResource),
  ]);
  const config = runtimeConfig({
    versionText: version.stdout,
    canRaiseOomScore,
    snapshotter: settings.runtime.snapshotter,
    sandboxImage: settings.runtime.sandboxImage,
    root: paths.containerdRoot,
    state: paths.containerdState,
    socket: paths.containerdSocket,
    runcRoot: `${paths.runDir}/runc`,
    systemdCgroup: settings.kubelet.cgroupDriver === 'systemd',
    optDir: `${paths.dataDir}/opt`,
    cniConfigDir: settings.runtime.cniConfigDir,
    cniBinDirs: settings.runtime.cniBinDirs,
    registriesDir: paths.registriesDir,
  });
  await host.files.ensureDirectory(paths.registriesDir, 0o755);
  await host.files.write(paths.containerdConfig, config, 0o600);
}

/** Waits until the runtime says that it is ready, then sees to the images that every node has. */
export async function prepareRuntime(
  settings: ClusterSettings,
  progress: (message: string) => void,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  const runtime = createCriRuntime({ endpoint: settings.runtime.endpoint, clock: host.clock, containerdEvents: false });
  try {
    await untilRuntimeReady(runtime, settings.runtime.endpoint, host, signal);
    progress('container runtime is ready');
    await ensureBuiltInImages(settings.runtime, runtime, host, signal);
    progress('images are loaded');
  } catch (error) {
    // A runtime that is not ours may not be containerd; its images are its owner's affair.
    if (!(error instanceof CannotLoadImages) || settings.runtime.kind === 'private') throw error;
    progress(`images were not loaded: ${error.message}`);
  } finally {
    runtime.close();
  }
}

/**
 * The socket is there before CRI is, and CRI answers before it is ready: only its own word counts. Nothing tells of it, so it is asked every
 * few milliseconds.
 *
 * @throws {Unavailable} after 60 s
 */
export async function untilRuntimeReady(runtime: CriRuntime, endpoint: string, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const giveUpAtMs = host.clock.monotonic() + 60_000;
  let why = 'its socket does not answer';
  while (host.clock.monotonic() < giveUpAtMs) {
    const problem = await runtimeProblem(runtime, endpoint, host, signal);
    if (problem === undefined) return;
    why = problem;
    await host.clock.sleep(10, signal);
  }
  throw new Unavailable({
    message: `the container runtime at ${endpoint} is not ready after 60 s: ${why}`,
    hint: 'its log is containerd.log in the data folder',
  });
}

async function runtimeProblem(runtime: CriRuntime, endpoint: string, host: ClusterHost, signal: AbortSignal): Promise<string | undefined> {
  // Asked first without gRPC, whose reconnection would wait longer after each failure.
  const connection = await host.sockets.connect(endpoint.replace(/^unix:\/\//, ''));
  if (connection === undefined) return 'its socket does not answer';
  connection.close();
  try {
    const ready = (await runtime.status(signal)).status?.conditions.find((condition) => condition.type === 'RuntimeReady');
    return ready?.status === true ? undefined : `RuntimeReady is false: ${ready?.reason ?? ''} ${ready?.message ?? ''}`.trim();
  } catch (error) {
    if (error instanceof RuntimeUnreachable) return error.message;
    throw error;
  }
}
