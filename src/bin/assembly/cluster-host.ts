import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { ClusterHost } from '#cluster/ports/cluster-host.ts';

/** This host, for its side of a cluster. `KUBERNODE_HOST=portable` uses nothing of Linux on Linux either: that is how it is tested. */
export async function createHost(clock: Clock, log: Logger): Promise<ClusterHost> {
  if (process.platform === 'linux' && process.env['KUBERNODE_HOST'] !== 'portable') {
    const { createClusterHost } = await import('#os/linux/host-cluster.ts');
    return createClusterHost(clock, log);
  }
  const { createPortableHost } = await import('#os/portable/host-cluster.ts');
  return createPortableHost(clock, log);
}
