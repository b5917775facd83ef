import { readFile } from 'node:fs/promises';
import { Registry } from 'prom-client';
import { systemClock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import { runKubelet } from '#kubelet/kubelet.ts';
import type { KubeletConfig, KubeletHost } from '#kubelet/kubelet-config.ts';
import { withClientMetrics } from '#kubelet/metrics/client-metrics.ts';
import { networkHttpGet, networkProbers } from '#kubelet/probes/network-clients.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { linuxCpuTopology } from '#os/linux/cpu-topology.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { linuxFolderWatch } from '#os/linux/folder-watch.ts';
import { linuxHost } from '#os/linux/host-facts.ts';
import { linuxLogFiles } from '#os/linux/log-files.ts';
import { createLinuxMounter } from '#os/linux/mounter.ts';
import { keepOomScore } from '#os/linux/oom-score.ts';
import { createPluginPrograms } from '#os/linux/plugin-programs.ts';
import { createLinuxUsage } from '#os/linux/usage.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { getText } from '#wire/http/get-text.ts';
import { createHttpTransport, type HttpTransportOptions } from '#wire/http/transport.ts';
import { createPluginSockets } from '#wire/plugins/plugin-sockets.ts';
import { faultPointsOf } from './fault-points.ts';
import { nodeKeys } from './node-keys.ts';
import { ownProcess } from './own-process.ts';
import { shipRecords } from './ship-records.ts';

/** The Kubernetes that our kubelet claims to be. */
export const kubernetesVersion = 'v1.36.0';

/** A kubelet to run, and what it talks to. */
export interface NodeProgram {
  readonly config: Omit<KubeletConfig, 'version' | 'resolvConf'>;
  readonly connection: HttpTransportOptions;
  /** CRI v1, `unix:///path`. */
  readonly runtimeEndpoint: string;
  readonly runDir: string;
  /** The node is registered and its pods are looked after. */
  readonly onReady: () => void;
}

/** Runs a kubelet on this host until the signal is aborted. */
export async function runNode(program: NodeProgram, logger: Logger, signal: AbortSignal): Promise<void> {
  const { config, runtimeEndpoint } = program;
  keepOomScore(config.configuration.oomScoreAdj, systemClock, logger, signal);
  const [resolvConf, mounter] = await Promise.all([
    readFile(config.configuration.resolvConf, 'utf8').catch(() => ''), // a host without one has no name servers to pass on
    createLinuxMounter(),
  ]);
  const registry = new Registry();
  const connection = { ...program.connection, userAgent: 'kubelet/kubernode' };
  const transport = withClientMetrics(createHttpTransport(connection), connection.server, registry, systemClock);
  const runtime = createCriRuntime({
    endpoint: runtimeEndpoint,
    imageEndpoint: config.configuration.imageServiceEndpoint || undefined,
    requestTimeoutMs: config.configuration.runtimeRequestTimeout,
    clock: systemClock,
    containerdEvents: 'auto',
  });
  const host: KubeletHost = {
    client: createClient(transport),
    runtime,
    downloads: runtime,
    files: createLinuxFiles(),
    mounter,
    cgroups: createLinuxCgroups(),
    slices: async () => {
      const { createSystemd } = await import('#wire/dbus/systemd.ts'); // most nodes never need it
      return createSystemd({ clock: systemClock });
    },
    host: linuxHost,
    usage: createLinuxUsage(),
    logFiles: linuxLogFiles,
    cpuTopology: linuxCpuTopology,
    logind: async () => {
      const { createLogind } = await import('#wire/dbus/logind.ts'); // most nodes never need it
      return createLogind({ address: process.env['DBUS_SYSTEM_BUS_ADDRESS'], clock: systemClock });
    },
    folderWatch: linuxFolderWatch,
    manifests: { get: getText },
    pluginPrograms: createPluginPrograms(process.env),
    pluginSockets: createPluginSockets(systemClock),
    probers: networkProbers(systemClock),
    httpGet: networkHttpGet,
    keys: nodeKeys,
    process: ownProcess,
    redial: (pair) => transport.redial(pair),
    clock: systemClock,
    logger,
    registry,
    random: Math.random,
    ship: shipRecords(transport, systemClock),
    faults: faultPointsOf(process.env, program.runDir),
    onReady: program.onReady,
  };
  await runKubelet({ ...config, version: kubernetesVersion, resolvConf }, host, signal);
  runtime.close();
  await transport.close();
}
