/** What the default network of a cluster is made of. */
export interface NetworkFacts {
  /** CNI network name. */
  readonly network: string;
  readonly bridge: string;
  /** Pod range of this node. */
  readonly nodePodCIDR: string;
  /** Folder of host-local's reservations. */
  readonly reservationsDir: string;
  readonly mtu: number;
}

/** Sorts before what a user may add, so that it stays the one that the runtime loads. */
export const networkConfigFile = '10-kubernode.conflist';

/**
 * The CNI configuration list. The bridge plugin's own masquerading stays off: it costs 22 to 25 ms of every sandbox and 55 ms of every stop,
 * where one rule a cluster does the same.
 */
export function networkConfigList(facts: NetworkFacts): string {
  const list = {
    cniVersion: '1.0.0',
    name: facts.network,
    plugins: [
      {
        type: 'bridge',
        bridge: facts.bridge,
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        mtu: facts.mtu,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: facts.nodePodCIDR }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: facts.reservationsDir,
        },
      },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ],
  };
  return `${JSON.stringify(list, undefined, 2)}\n`;
}
