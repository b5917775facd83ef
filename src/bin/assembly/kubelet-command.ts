import { lookup } from 'node:dns/promises';
import { setMaxListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { AppError, InvalidInput } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Command } from '#cli/command.ts';
import { UsageError } from '#cli/command.ts';
import type { CliContext } from '#cli/context.ts';
import { claimLoneNode, type LoneNode } from '#cluster/lone-node.ts';
import { duration } from '#kubelet/configuration/field.ts';
import { tellUnmetWishes } from '#kubelet/configuration/field-effects.ts';
import { flagNames, type KubeletFlags, labelsOf, parseKubeletFlags } from '#kubelet/configuration/flags.ts';
import { type KubeletConfiguration, parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';
import { layFlagsOver, mergeConfigurations } from '#kubelet/configuration/merge-configurations.ts';
import { kubeletTimings } from '#kubelet/kubelet-config.ts';
import { chooseNodeAddresses } from '#kubelet/node/choose-addresses.ts';
import { refuseForeignLabels } from '#kubelet/node/node-labels.ts';
import { dockerConfigFiles } from '#kubelet/runtime/images/docker-files.ts';
import { linuxHost } from '#os/linux/host-facts.ts';
import { nodeConnection } from './node-connection.ts';
import { partLogger, setVerbose } from './part-logger.ts';
import { type NodeProgram, runNode } from './run-node.ts';

/** This host cannot have a node. */
class CannotRunNode extends AppError {
  readonly code = 'CANNOT_RUN_NODE';
  readonly retry = 'never';
}

const defaultName = 'kubelet';
/** Upstream's. */
const defaults = { port: 10_250, address: '0.0.0.0', runtimeEndpoint: 'unix:///run/containerd/containerd.sock' } as const;

/** The kubelet of a node that may belong to any cluster. */
export const kubelet: Command = {
  usage: `kubelet --kubeconfig FILE [--bootstrap-kubeconfig FILE] [--config FILE] [--config-dir DIR] [FLAG..]

runs a node: a kubelet over a container runtime of this host, for any API server of Kubernetes. Prints {"ready":true} when the node is registered.
--name N (default ${defaultName}) names what it makes on this host; \`kubernode down --name N\` removes what is left when it has ended.

flags: --${flagNames.join(', --')}`,
  options: {},
  takesRawWords: true,
  async run(_options, words, context) {
    const flags = parseFlags(words);
    setMaxListeners(0); // one signal ends hundreds of pods' calls: no leak
    const configuration = await readConfiguration(flags, context);
    const timings = await timingsOf(flags, configuration, context);
    const host = await context.host();
    if (!(host.isLinux && host.isRoot)) throw new CannotRunNode({ message: `a node needs ${host.isLinux ? 'root' : 'Linux'}` });
    const { own } = flags;
    const runtimeEndpoint = configuration.containerRuntimeEndpoint || defaults.runtimeEndpoint;
    const podLogs = configuration.podLogsDir || undefined;
    const claim = { name: own.name ?? defaultName, dataDir: own['data-dir'], rootDirectory: own['root-dir'], podLogs, runtimeEndpoint };
    const node = await claimLoneNode(claim, host, context.signal);
    const logger = partLogger({ process: 'kubelet' });
    if (Number(own.v ?? 0) >= debugFrom) setVerbose(true);
    tellUnmetWishes(configuration, logger);
    try {
      const nodeName = nodeNameOf(flags, host.hostName);
      const program = await programOf({ flags, configuration, timings, node, nodeName, runtimeEndpoint }, logger, context.signal);
      await runNode({ ...program, onReady: () => context.print('{"ready":true}') }, logger, context.signal);
    } catch (error) {
      if (!context.signal.aborted) throw error;
    } finally {
      await node.leave(AbortSignal.timeout(leaveWithinMs));
    }
    return 0;
  },
};

/** From this `-v` on upstream's log tells of every step too. */
const debugFrom = 4;
const leaveWithinMs = 20_000;

interface Chosen {
  readonly flags: KubeletFlags;
  readonly configuration: KubeletConfiguration;
  readonly timings: ReturnType<typeof kubeletTimings>;
  readonly node: LoneNode;
  readonly nodeName: string;
  readonly runtimeEndpoint: string;
}

async function programOf(chosen: Chosen, logger: Logger, signal: AbortSignal): Promise<Omit<NodeProgram, 'onReady'>> {
  const { flags, configuration, timings, node, nodeName, runtimeEndpoint } = chosen;
  const { own } = flags;
  const { paths, names } = node;
  const nodeLabels = labelsOf(own['node-labels'] ?? '');
  refuseForeignLabels(nodeLabels);
  const nodeIPs = (own['node-ip'] ?? '').split(',').flatMap((address) => (address.trim() === '' ? [] : [address.trim()]));
  const resolve = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address);
  const nodeAddresses = await chooseNodeAddresses({ nodeName, nodeIPs }, await linuxHost.facts(signal), resolve);
  const certificateDirectory = own['cert-dir'] ?? paths.pkiDir;
  const credentials = {
    nodeName,
    certificateDirectory,
    kubeconfigPath: own.kubeconfig ?? paths.kubeletKubeconfig,
    bootstrapPath: own['bootstrap-kubeconfig'],
  };
  const connection = await nodeConnection(credentials, logger, signal);
  const config: NodeProgram['config'] = {
    nodeName,
    nodeAddress: nodeAddresses[0],
    nodeAddresses,
    givenAddresses: nodeIPs.filter((address) => nodeAddresses.includes(address)),
    kubeletPort: configuration.port ?? defaults.port,
    listenAddress: configuration.address || defaults.address,
    roots: { root: paths.kubeletRoot, podLogs: paths.podLogs, containerLogs: paths.containerLogs },
    memoryVolumes: paths.memoryVolumes,
    cgroupRoot: names.cgroupRoot,
    clusterDomain: configuration.clusterDomain,
    clusterDns: configuration.clusterDNS,
    expectsClusterDns: true,
    configuration,
    flags: own,
    nodeLabels,
    hasExternalCloud: own['cloud-provider'] === 'external',
    certificates: {
      directory: certificateDirectory,
      serving: servingOf(configuration),
      clientCaFile: configuration.authentication.x509.clientCAFile || undefined,
      rotateClient: configuration.rotateCertificates,
    },
    dockerConfigs: dockerConfigFiles(paths.kubeletRoot, process.cwd(), homedir()),
    credentialProviders: await credentialProvidersOf(own),
    timings,
  };
  return { config, connection, runtimeEndpoint, runDir: paths.runDir };
}

async function credentialProvidersOf(own: KubeletFlags['own']): Promise<NodeProgram['config']['credentialProviders']> {
  const [configPath, directory] = [own['image-credential-provider-config'] ?? '', own['image-credential-provider-bin-dir'] ?? ''];
  if (configPath === '' && directory === '') return undefined;
  if (configPath === '' || directory === '')
    throw new InvalidInput({
      message: `pluginBinDir ${JSON.stringify(directory)} and plugin config path ${JSON.stringify(configPath)} must both be set`,
      hint: 'give --image-credential-provider-config and --image-credential-provider-bin-dir',
    });
  const { readCredentialProviders } = await import('./credential-providers.ts'); // loaded only where there are some
  return readCredentialProviders(configPath, directory);
}

function servingOf({ tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap }: KubeletConfiguration): NodeProgram['config']['certificates']['serving'] {
  if (tlsCertFile !== '') return { kind: 'files', certFile: tlsCertFile, keyFile: tlsPrivateKeyFile };
  return { kind: serverTLSBootstrap ? 'requested' : 'self-signed' };
}

function parseFlags(words: readonly string[]): KubeletFlags {
  try {
    const flags = parseKubeletFlags(words);
    const cloud = flags.own['cloud-provider'] ?? '';
    if (cloud === '' || cloud === 'external') return flags;
    throw new InvalidInput({ message: `unsupported value for "--cloud-provider" flag: ${JSON.stringify(cloud)}`, hint: 'give external, or nothing' });
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new UsageError({ message: error.message, hint: error.hint, cause: error });
  }
}

/** The file, over it the drop-in files in the order of their names, over them the flags. */
async function readConfiguration({ own, configuration }: KubeletFlags, context: CliContext): Promise<KubeletConfiguration> {
  const directory = own['config-dir'];
  const dropIns = directory === undefined ? [] : namesIn(directory).map((name) => `${directory}/${name}`);
  const files = [...(own.config === undefined ? [] : [own.config]), ...dropIns];
  const layers = await Promise.all(files.map((file) => context.readKubeletConfiguration(file, 'part')));
  return parseKubeletConfiguration(layFlagsOver(mergeConfigurations(layers), configuration), files.length === 0 ? 'flags' : files.join(' + '));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.conf'))
      .sort();
  } catch (cause) {
    throw new InvalidInput({ message: `cannot read the folder ${directory}`, hint: 'give one that exists as --config-dir', cause });
  }
}

/** `NAME=MS,..` for what no field of the configuration sets. */
async function timingsOf(
  { own }: KubeletFlags,
  configuration: KubeletConfiguration,
  context: CliContext,
): Promise<ReturnType<typeof kubeletTimings>> {
  const known = own.timing === undefined ? [] : await context.timingNames();
  const given = (own.timing ?? '')
    .split(',')
    .filter(Boolean)
    .map((pair): readonly [string, number] => {
      const [name = '', value = ''] = pair.split('=');
      if (!known.includes(name) || !/^\d+$/.test(value))
        throw new UsageError({ message: `--timing ${pair}`, hint: `give NAME=MS; names: ${known.join(', ')}` });
      return [name, Number(value)];
    });
  return kubeletTimings(configuration, { ...deadContainersOf(own), ...Object.fromEntries(given) });
}

/** What is kept of containers that have ended, by upstream's flags. */
function deadContainersOf(own: KubeletFlags['own']): Readonly<Record<string, number>> {
  const age = own['minimum-container-ttl-duration'];
  const whole = (flag: 'maximum-dead-containers' | 'maximum-dead-containers-per-container'): number | undefined => {
    const text = own[flag];
    if (text === undefined) return undefined;
    if (/^-?\d+$/.test(text)) return Number(text);
    throw new UsageError({ message: `invalid argument ${JSON.stringify(text)} for "--${flag}" flag: it is not a whole number` });
  };
  const wanted = {
    deadContainersInAll: whole('maximum-dead-containers'),
    deadContainersPerName: whole('maximum-dead-containers-per-container'),
    deadContainerMinimumAgeMs: age === undefined ? undefined : duration(0).parse(age, '--minimum-container-ttl-duration'),
  };
  return Object.fromEntries(Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** As upstream: trimmed, in lower case. */
function nodeNameOf({ own }: KubeletFlags, hostName: string): string {
  const name = (own['hostname-override'] ?? hostName).trim().toLowerCase();
  if (name === '') throw new InvalidInput({ message: 'empty hostname is invalid', hint: 'give the node a name as --hostname-override' });
  return name;
}
