import { InvalidInput, NotFound } from '#base/errors.ts';
import { choosePodRange, chooseServiceRange, nodeRangeOf } from './choose-pod-range.ts';
import { clusterPaths } from './cluster-paths.ts';
import { hostNames } from './host-names.ts';
import { pauseImageName } from './images/built-in-images.ts';
import { parseRange, rangesOverlap } from './ipv4-range.ts';
import type { ClusterHost } from './ports/cluster-host.ts';
import type { ClusterSettings, RuntimeSettings } from './settings.ts';
import type { UpOptions } from './up-options.ts';

export interface SettingsFacts {
  readonly dataDir: string;
  /** Of an earlier `up`. */
  readonly remembered: ClusterSettings | undefined;
  /** Of the other clusters on this host. */
  readonly others: readonly ClusterSettings[];
}

const defaultApiPort = 6443;
const defaultKubeletPort = 10_250;
const loopback = '127.0.0.1';

/**
 * Decides everything that is fixed for a cluster's life on this host. Only for a cluster that is not running, and under the host's lock:
 * ports and ranges are free until somebody takes them.
 */
export async function chooseSettings(options: UpOptions, facts: SettingsFacts, host: ClusterHost, signal: AbortSignal): Promise<ClusterSettings> {
  const { remembered, others } = facts;
  const names = hostNames(options.name);
  const apiOnly = options.apiOnly ?? remembered?.apiOnly ?? false;
  const { address: nodeAddress } = await host.network.outwardAddress();
  const apiPort = await chooseApiPort(options, facts, host);
  const podCIDR = await choosePodCIDR(options, facts, host);
  return {
    version: 1,
    name: names.name,
    dataDir: facts.dataDir,
    apiOnly,
    nodeName: options.nodeName ?? remembered?.nodeName ?? host.hostName,
    nodeAddress,
    apiAddress: loopback,
    apiPort,
    kubeletPort: apiOnly ? 0 : await nextFreePort(nodeAddress, remembered?.kubeletPort || defaultKubeletPort, [...portsOf(others), apiPort], host),
    podCIDR,
    nodePodCIDR: nodeRangeOf(podCIDR),
    serviceCIDR: remembered?.serviceCIDR ?? chooseServiceRange(names.hash, [podCIDR, ...(await takenRanges(options, facts, host))]),
    clusterDomain: remembered?.clusterDomain ?? 'cluster.local',
    clusterDNS: remembered?.clusterDNS ?? [],
    store: options.store ?? remembered?.store ?? { kind: 'sqlite' },
    runtime: await chooseRuntime(options, facts, apiOnly, host, signal),
    timings: { ...remembered?.timings, ...options.timings },
    kubelet: options.kubelet ?? remembered?.kubelet ?? {},
    credentialProviders: options.credentialProviders ?? remembered?.credentialProviders,
  };
}

async function chooseApiPort(options: UpOptions, { remembered, others }: SettingsFacts, host: ClusterHost): Promise<number> {
  const taken = portsOf(others);
  const wish = options.port ?? remembered?.apiPort ?? defaultApiPort;
  if (wish === 0) {
    // The one of last time, so that kubeconfigs that were copied stay good.
    return await nextFreePort(loopback, remembered?.apiPort ?? (await host.network.freePort(loopback, 0)), taken, host);
  }
  if (options.port !== undefined && (taken.includes(wish) || !(await host.network.isPortFree(loopback, wish)))) {
    throw new InvalidInput({ message: `port ${wish} is taken`, hint: 'choose another --port, or 0 for any free one' });
  }
  return await nextFreePort(loopback, wish, taken, host);
}

async function nextFreePort(address: string, wish: number, taken: readonly number[], host: ClusterHost): Promise<number> {
  for (let port = wish; port < Math.min(wish + 200, 65_536); port += 1) {
    if (!taken.includes(port) && (await host.network.isPortFree(address, port))) return port;
  }
  return await host.network.freePort(address, 0);
}

function portsOf(clusters: readonly ClusterSettings[]): readonly number[] {
  return clusters.flatMap((cluster) => [cluster.apiPort, cluster.kubeletPort]);
}

async function choosePodCIDR(options: UpOptions, facts: SettingsFacts, host: ClusterHost): Promise<string> {
  const { hash } = hostNames(options.name);
  const { remembered } = facts;
  const own = remembered === undefined ? [] : [remembered.serviceCIDR];
  const taken = [...own, ...(await takenRanges(options, facts, host))];
  const clashWith = (range: string) => taken.find((other) => rangesOverlap(parseRange(range), parseRange(other)));
  if (options.podCIDR !== undefined) {
    const clash = clashWith(options.podCIDR);
    if (clash !== undefined)
      throw new InvalidInput({ message: `pod range ${options.podCIDR} overlaps ${clash}, which this host uses`, hint: 'choose another --pod-cidr' });
    return options.podCIDR;
  }
  if (remembered !== undefined && clashWith(remembered.podCIDR) === undefined) return remembered.podCIDR;
  return choosePodRange(hash, taken);
}

/** What the host and its other clusters use. */
async function takenRanges(options: UpOptions, { others }: SettingsFacts, host: ClusterHost): Promise<readonly string[]> {
  const { bridge } = hostNames(options.name);
  const routes = (await host.network.routes()).filter((route) => route.link !== bridge).map((route) => route.range);
  return [...routes, ...others.filter((cluster) => !cluster.apiOnly).flatMap((cluster) => [cluster.podCIDR, cluster.serviceCIDR])];
}

async function chooseRuntime(
  options: UpOptions,
  { dataDir, remembered }: SettingsFacts,
  apiOnly: boolean,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<RuntimeSettings> {
  const names = hostNames(options.name);
  const paths = clusterPaths(names.runDir, dataDir);
  const endpoint = options.runtimeEndpoint ?? (remembered?.runtime.kind === 'external' ? remembered.runtime.endpoint : undefined);
  const before = remembered?.runtime.kind === (endpoint === undefined ? 'private' : 'external') ? remembered.runtime : undefined;
  const sandboxImage = options.sandboxImage ?? before?.sandboxImage ?? pauseImageName;
  if (endpoint !== undefined) {
    const cniConfigDir = options.cniConfigDir ?? before?.cniConfigDir ?? '/etc/cni/net.d';
    return { kind: 'external', endpoint, sandboxImage, cniConfigDir, ownsCniConfig: false, cniBinDirs: [], snapshotter: 'overlayfs' };
  }
  return {
    kind: 'private',
    endpoint: `unix://${paths.containerdSocket}`,
    sandboxImage,
    cniConfigDir: options.cniConfigDir ?? before?.cniConfigDir ?? paths.cniConfigDir,
    ownsCniConfig: options.cniConfigDir === undefined && (before?.ownsCniConfig ?? true),
    cniBinDirs: apiOnly ? [] : await findCniPlugins(host),
    snapshotter: before?.snapshotter ?? (apiOnly || (await host.mounts.canOverlay(paths.containerdRoot, signal)) ? 'overlayfs' : 'native'),
  };
}

/** Where distributions and the upstream archives put them. */
const cniBinDirs = ['/usr/lib/cni', '/usr/libexec/cni', '/opt/cni/bin'];
export const cniPlugins = ['bridge', 'host-local', 'portmap', 'loopback'];

export async function findCniPlugins(host: Pick<ClusterHost, 'files'>): Promise<readonly string[]> {
  for (const dir of cniBinDirs) {
    const found = await Promise.all(cniPlugins.map((plugin) => host.files.exists(`${dir}/${plugin}`)));
    if (found.every(Boolean)) return [dir];
  }
  throw new NotFound({
    message: `no folder of ${cniBinDirs.join(', ')} has the network plugins ${cniPlugins.join(', ')}`,
    hint: 'apt-get install containernetworking-plugins',
  });
}
