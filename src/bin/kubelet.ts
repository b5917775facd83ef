import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { AppError, InvalidInput, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { clusterPaths } from '#cluster/cluster-paths.ts';
import { hostNames } from '#cluster/host-names.ts';
import { pkiFiles } from '#cluster/pki-files.ts';
import { type ClusterSettings, parseSettings } from '#cluster/settings.ts';
import { tellUnmetWishes } from '#kubelet/configuration/field-effects.ts';
import { parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';
import { type CredentialProviders, kubeletTimings } from '#kubelet/kubelet-config.ts';
import { dockerConfigFiles } from '#kubelet/runtime/images/docker-files.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { partLogger } from './assembly/part-logger.ts';
import { runNode } from './assembly/run-node.ts';

// The kubelet of a cluster's own node, in one process. Prints `{"ready":true}` when the node is registered and its pods are looked after.

async function main(logger: Logger, signal: AbortSignal): Promise<void> {
  const { settingsFile, runDir } = readFlags();
  const settings = parseSettings(await readFile(settingsFile, 'utf8'), settingsFile);
  const paths = clusterPaths(runDir, settings.dataDir);
  const configuration = parseKubeletConfiguration(settings.kubelet, settingsFile);
  tellUnmetWishes(configuration, logger);
  const pki = pkiFiles(paths);
  const config = {
    nodeName: settings.nodeName,
    nodeAddress: settings.nodeAddress,
    nodeAddresses: [settings.nodeAddress],
    givenAddresses: [],
    hasExternalCloud: false,
    kubeletPort: configuration.port ?? settings.kubeletPort,
    listenAddress: configuration.address || settings.nodeAddress,
    roots: { root: paths.kubeletRoot, podLogs: paths.podLogs, containerLogs: paths.containerLogs },
    memoryVolumes: paths.memoryVolumes,
    cgroupRoot: hostNames(settings.name).cgroupRoot,
    clusterDomain: configuration.clusterDomain || settings.clusterDomain,
    clusterDns: configuration.clusterDNS.length > 0 ? configuration.clusterDNS : settings.clusterDNS,
    expectsClusterDns: false,
    configuration,
    flags: { settings: settingsFile, 'run-dir': runDir },
    nodeLabels: {},
    certificates: {
      directory: paths.pkiDir,
      serving: { kind: 'files', certFile: pki.cert('kubelet-server'), keyFile: pki.key('kubelet-server') },
      clientCaFile: pki.caCert,
      rotateClient: false, // `up` renews the cluster's certificates
    },
    dockerConfigs: dockerConfigFiles(paths.kubeletRoot, process.cwd(), homedir()),
    credentialProviders: await credentialProvidersOf(settings),
    timings: kubeletTimings(configuration, settings.timings),
  } as const;
  const connection = readKubeconfig(await readFile(paths.kubeletKubeconfig, 'utf8'));
  const onReady = () => void process.stdout.write('{"ready":true}\n');
  await runNode({ config, connection, runtimeEndpoint: settings.runtime.endpoint, runDir, onReady }, logger, signal);
}

/** What reads them is loaded only where there are some. */
async function credentialProvidersOf({ credentialProviders: paths }: ClusterSettings): Promise<CredentialProviders | undefined> {
  if (paths === undefined) return undefined;
  const { readCredentialProviders } = await import('./assembly/credential-providers.ts');
  return readCredentialProviders(paths.configPath, paths.directory);
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
