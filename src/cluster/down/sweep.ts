import { dirname } from 'node:path';
import { messageOf, Unavailable } from '#base/errors.ts';
import { cgroupRoots } from '../cgroup-roots.ts';
import type { FoundCluster } from '../find-clusters.ts';
import { planRemoval } from '../firewall.ts';
import type { HostObjects } from '../inventory/host-objects.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';

/**
 * Removes by hand whatever the host has of a cluster whose parts have ended, and its run folder: last, because what is in there says what is
 * to be removed, should this have to be done again.
 *
 * @throws {Unavailable} that names what is left
 */
export async function sweep(cluster: FoundCluster, objects: HostObjects, host: ClusterHost, signal: AbortSignal): Promise<void> {
  await sweepObjects(cluster, objects, host, signal);
  await host.files.removeTree(cluster.paths.runDir);
}

/**
 * All but the run folder. Goes on after a failure, so that one stubborn object does not keep the others.
 *
 * @throws {Unavailable} that names what is left
 */
export async function sweepObjects(cluster: FoundCluster, objects: HostObjects, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const { names, paths } = cluster;
  const left: string[] = [];
  const attempt = async (what: string, action: () => Promise<void>) => {
    try {
      await action();
    } catch (error) {
      if (signal.aborted) throw error;
      left.push(`${what} (${messageOf(error)})`);
    }
  };
  await killProcesses(objects, host, signal);
  for (const mount of objects.mounts) await attempt(`mount ${mount.target}`, () => host.mounts.unmount(mount.target, signal));
  for (const link of objects.links) await attempt(`link ${link}`, () => host.network.deleteLink(link, signal));
  const rules = planRemoval(objects.rules, { chain: names.iptablesChain, network: names.network });
  await Promise.all([
    attempt(`bridge ${names.bridge}`, () => host.network.deleteLink(names.bridge, signal)),
    rules === undefined ? undefined : attempt(`rules of chain ${names.iptablesChain}`, () => host.network.changeRules(rules, signal)),
    ...cgroupRoots(names, cluster.settings).map((root) => attempt(`control group ${root}`, () => removeCgroups(root, host, signal))),
    ...objects.attachments.map(({ file }) => attempt(file, () => host.files.remove(file))),
    attempt(paths.cniDataDir, () => host.files.removeTree(paths.cniDataDir)),
    ...objects.shimSockets.map((socket) => attempt(socket, () => host.files.remove(socket))),
  ]);
  if (left.length > 0) {
    throw new Unavailable({
      message: `cluster ${names.name} is stopped, but could not remove ${left.join('; ')}`,
      hint: 'try `kubernode down` again',
    });
  }
}

/** Containers whose runtime is gone, and the shims that hold them. */
async function killProcesses(objects: HostObjects, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const pids = new Set((await Promise.all(objects.cgroups.map((cgroup) => host.cgroups.processesIn(cgroup)))).flat());
  const contained = (await Promise.all([...pids].map((pid) => host.processes.identify(pid)))).flatMap((process) => process ?? []);
  const doomed = [...objects.shims, ...contained];
  for (const process of doomed) await host.processes.signal(process, 'SIGKILL');
  await Promise.all(doomed.map((process) => host.processes.whenGone(process, signal)));
}

/** A control group is busy for a moment after its last process ended. */
async function removeCgroups(root: string, host: ClusterHost, signal: AbortSignal): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await host.cgroups.removeTree(root);
      const parent = dirname(root);
      if ((await host.cgroups.listBelow(parent)).length === 1) await host.cgroups.removeTree(parent); // of the host's last cluster
      return;
    } catch (error) {
      if (!(error instanceof Unavailable) || round >= 50) throw error;
      await host.clock.sleep(20, signal);
    }
  }
}
