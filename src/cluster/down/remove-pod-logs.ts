import type { FoundCluster } from '../find-clusters.ts';
import type { HostObjects } from '../inventory/host-objects.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';

/** Of a node that logs outside of its data folder: the logs of its pods and the links to them. Others log there too. */
export async function removePodLogs({ paths }: FoundCluster, { podDirectories }: HostObjects, host: ClusterHost): Promise<void> {
  const { podLogs, containerLogs, dataDir } = paths;
  if (podLogs.startsWith(`${dataDir}/`)) return;
  const folders = (await host.files.list(podLogs)).filter(({ name }) => podDirectories.some((uid) => name.endsWith(`_${uid}`)));
  const own = folders.map(({ name }) => `${podLogs}/${name}`);
  for (const { name } of await host.files.list(containerLogs)) {
    const target = await host.files.readLink(`${containerLogs}/${name}`).catch(() => undefined); // no link
    if (target !== undefined && own.some((folder) => target.startsWith(`${folder}/`))) await host.files.remove(`${containerLogs}/${name}`);
  }
  for (const folder of own) await host.files.removeTree(folder);
}
