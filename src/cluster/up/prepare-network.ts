import { bridgeAddressOf } from '../choose-pod-range.ts';
import type { ClusterPaths } from '../cluster-paths.ts';
import { planMasquerade } from '../firewall.ts';
import type { HostNames } from '../host-names.ts';
import { networkConfigFile, networkConfigList } from '../network-config.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { ClusterSettings } from '../settings.ts';

/**
 * Bridge, masquerading, forwarding, and the configuration list for the runtime. The bridge is made here, not by the first pod: two first pods
 * at once, or a plugin older than the kernel, fail to give it its address.
 */
export async function prepareNetwork(
  settings: ClusterSettings,
  names: HostNames,
  paths: ClusterPaths,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  if (!settings.runtime.ownsCniConfig) return;
  const { mtu } = await host.network.outwardAddress();
  const config = networkConfigList({
    network: names.network,
    bridge: names.bridge,
    nodePodCIDR: settings.nodePodCIDR,
    reservationsDir: paths.cniDataDir,
    mtu,
  });
  const file = `${settings.runtime.cniConfigDir}/${networkConfigFile}`;
  await Promise.all([
    // Written only when it changes: the runtime loads its network again after each write.
    host.files.readText(file).then(async (present) => {
      if (present !== config) await host.files.write(file, config, 0o644);
    }),
    host.files.ensureDirectory(paths.cniDataDir, 0o755),
    host.network.ensureBridge({ name: names.bridge, address: bridgeAddressOf(settings.nodePodCIDR), macAddress: macAddressOf(names), mtu }, signal),
    host.network.enableForwarding(),
    ensureMasquerade(settings, names, host, signal),
  ]);
}

async function ensureMasquerade(settings: ClusterSettings, names: HostNames, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const change = planMasquerade(await host.network.rules(signal), { chain: names.iptablesChain, network: names.network }, settings.podCIDR);
  if (change !== undefined) await host.network.changeRules(change, signal);
}

/** Of the kind that is given out locally. */
function macAddressOf({ hash }: HostNames): string {
  return ['02', '6b', ...(hash.match(/../g) ?? [])].join(':');
}
