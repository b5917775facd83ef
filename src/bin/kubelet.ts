import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '#base/clock.ts';
import { AppError, InvalidInput, messageOf, Unavailable } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import type { Transport } from '#client/transport.ts';
import { clusterPaths } from '#cluster/cluster-paths.ts';
import { hostNames } from '#cluster/host-names.ts';
import { pkiFiles } from '#cluster/pki-files.ts';
import { parseSettings } from '#cluster/settings.ts';
import { parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';
import { runKubelet } from '#kubelet/kubelet.ts';
import { type KubeletHost, kubeletTimings } from '#kubelet/kubelet-config.ts';
import { networkHttpGet, networkProbers } from '#kubelet/probes/network-clients.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { linuxHost } from '#os/linux/host-facts.ts';
import { linuxLogFiles } from '#os/linux/log-files.ts';
import { createLinuxMounter } from '#os/linux/mounter.ts';
import { createLinuxUsage } from '#os/linux/usage.ts';
import type { BatchAnswer } from '#startup/pod-startup.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport } from '#wire/http/transport.ts';
import { faultPointsOf } from './assembly/fault-points.ts';
import { partLogger } from './assembly/part-logger.ts';

// The kubelet of one node in one process. Prints `{"ready":true}` when the node is registered and its pods are looked after.

const kubernetesVersion = 'v1.36.0';

async function main(logger: Logger, signal: AbortSignal): Promise<void> {
  const { settingsFile, runDir } = readFlags();
  const settings = parseSettings(await readFile(settingsFile, 'utf8'), settingsFile);
  const paths = clusterPaths(runDir, settings.dataDir);
  const configuration = parseKubeletConfiguration(settings.kubelet, settingsFile);
  const pki = pkiFiles(paths);
  const read = (file: string) => readFile(file, 'utf8');
  const [kubeconfig, cert, key, clientCa, resolvConf, mounter] = await Promise.all([
    read(paths.kubeletKubeconfig),
    read(pki.cert('kubelet-server')),
    read(pki.key('kubelet-server')),
    read(pki.caCert),
    read(configuration.resolvConf).catch(() => ''), // a host without one has no name servers to pass on
    createLinuxMounter(),
  ]);
  const transport = createHttpTransport({ ...readKubeconfig(kubeconfig), userAgent: 'kubelet/kubernode' });
  const runtime = createCriRuntime({ endpoint: settings.runtime.endpoint, clock: systemClock, containerdEvents: 'auto' });
  const config = {
    nodeName: settings.nodeName,
    nodeAddress: settings.nodeAddress,
    kubeletPort: settings.kubeletPort,
    version: kubernetesVersion,
    roots: { root: paths.kubeletRoot, podLogs: paths.podLogs },
    memoryVolumes: paths.memoryVolumes,
    cgroupRoot: hostNames(settings.name).cgroupRoot,
    clusterDomain: configuration.clusterDomain || settings.clusterDomain,
    clusterDns: configuration.clusterDNS.length > 0 ? configuration.clusterDNS : settings.clusterDNS,
    resolvConf,
    configuration,
    taints: [],
    tls: { cert, key, clientCa },
    timings: kubeletTimings(configuration, settings.timings),
  };
  const host: KubeletHost = {
    client: createClient(transport),
    runtime,
    files: createLinuxFiles(),
    mounter,
    cgroups: createLinuxCgroups(),
    host: linuxHost,
    usage: createLinuxUsage(),
    logFiles: linuxLogFiles,
    probers: networkProbers(systemClock),
    httpGet: networkHttpGet,
    clock: systemClock,
    logger,
    random: Math.random,
    ship: (batch, inner) => shipRecords(transport, batch, inner),
    faults: faultPointsOf(process.env, runDir),
    onReady: () => process.stdout.write('{"ready":true}\n'),
  };
  await runKubelet(config, host, signal);
  runtime.close();
  await transport.close();
}

/** Start-up records are no objects of the API: a batch goes to their collection as it is. */
async function shipRecords(transport: Transport, batch: unknown, signal: AbortSignal): Promise<BatchAnswer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const request = {
    method: 'POST',
    path: '/apis/kubernode.dev/v1/podstartups',
    query: new URLSearchParams(),
    headers,
    body: JSON.stringify(batch),
  } as const;
  const { status, body } = await transport.send(request, signal);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  if (status >= 300) throw new Unavailable({ message: `start-up records are not taken: HTTP ${status}` });
  const answer: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return { isWatched: typeof answer === 'object' && answer !== null && 'isWatched' in answer && answer.isWatched === true };
}

function readFlags(): { readonly settingsFile: string; readonly runDir: string } {
  const { values } = parseArgs({ options: { settings: { type: 'string' }, 'run-dir': { type: 'string' } } });
  const { settings: settingsFile, 'run-dir': runDir } = values;
  if (settingsFile === undefined || runDir === undefined) {
    throw new InvalidInput({ message: '--settings and --run-dir are missing', hint: 'usage: kubelet --settings FILE --run-dir DIR' });
  }
  return { settingsFile, runDir };
}

/** A signal for the whole group of a terminal is not meant for a part: the supervisor ends it. */
function untilToldToEnd(): AbortSignal {
  const end = new AbortController();
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.once('SIGTERM', () => end.abort());
  return end.signal;
}

setMaxListeners(0); // one signal ends hundreds of pods' calls: no leak
const logger = partLogger({ process: 'kubelet' });
try {
  await main(logger, untilToldToEnd());
  process.exit(0);
} catch (error) {
  const isBug = !(error instanceof AppError) && error instanceof Error;
  logger.error('the kubelet cannot run', {
    error: messageOf(error),
    mend: error instanceof AppError ? error.hint : undefined,
    stack: isBug ? error.stack : undefined,
  });
  process.exit(1);
}
