import { withDeadline } from '#base/abort.ts';
import { messageOf, Unavailable } from '#base/errors.ts';
import { type CriRuntime, createCriRuntime } from '#wire/cri/cri-runtime.ts';
import type { FoundCluster } from '../find-clusters.ts';
import { logFile, stdoutFile } from '../parts.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { ProcessIdentity } from '../ports/processes.ts';
import { writeProcessFile } from '../supervisor/process-file.ts';
import { untilRuntimeReady } from '../up/start-runtime.ts';

const atOnce = 8;
const withinMs = 60_000;

/**
 * Has the runtime stop and remove the cluster's pods, so that its plugins take back what they gave. A private containerd that is dead is
 * started once more for it. What does not work out is left to the sweep.
 */
export async function removePods(
  cluster: FoundCluster,
  settings: FoundCluster['runtime'],
  progress: (message: string) => void,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  if (settings === undefined) return;
  const runtime = createCriRuntime({ endpoint: settings.endpoint, clock: host.clock, containerdEvents: false });
  try {
    const containerd = settings.kind === 'private' ? await reviveContainerd(cluster, host) : undefined;
    if (settings.kind === 'private' && containerd === undefined) return;
    await withDeadline('removing the pods', withinMs, host.clock, signal, async (inner) => {
      const settled = new AbortController();
      const watching = AbortSignal.any([inner, settled.signal]);
      try {
        const work = removeAll(cluster, settings, runtime, host, watching);
        await (containerd === undefined ? work : Promise.race([work, whenEnded(containerd, host, watching)]));
      } finally {
        settled.abort();
      }
    });
  } catch (error) {
    if (signal.aborted) throw error;
    host.log.warn('pods not removed by the runtime', { error: messageOf(error) });
    progress(`the runtime did not remove all pods (${messageOf(error)}); what is left is removed by hand`);
  } finally {
    runtime.close();
  }
}

async function removeAll(
  cluster: FoundCluster,
  settings: NonNullable<FoundCluster['runtime']>,
  runtime: CriRuntime,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<void> {
  await untilRuntimeReady(runtime, settings.endpoint, host, signal);
  const sandboxes = await runtime.listPodSandboxes({}, signal);
  const own = settings.kind === 'private' ? undefined : await podUids(cluster, host);
  const queue = sandboxes.filter((sandbox) => own?.has(sandbox.metadata?.uid ?? '') ?? true).map((sandbox) => sandbox.id);
  await Promise.all(Array.from({ length: atOnce }, () => removeEach(queue, runtime, host, signal)));
}

/** Never resolves: a runtime that ended removes nothing. */
async function whenEnded(process: ProcessIdentity, host: ClusterHost, signal: AbortSignal): Promise<never> {
  await host.processes.whenGone(process, signal);
  throw new Unavailable({ message: 'containerd ended' });
}

async function removeEach(queue: string[], runtime: CriRuntime, host: ClusterHost, signal: AbortSignal): Promise<void> {
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    try {
      await runtime.stopPodSandbox(id, signal);
      await runtime.removePodSandbox(id, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      host.log.warn('sandbox not removed by the runtime', { sandbox: id, error: messageOf(error) });
    }
  }
}

/** @returns the containerd to ask, if there is one or can be */
async function reviveContainerd(cluster: FoundCluster, host: ClusterHost): Promise<ProcessIdentity | undefined> {
  const { paths, processes } = cluster;
  if (processes['containerd'] !== undefined) return processes['containerd'];
  if (!(await host.files.exists(paths.containerdState)) || !(await host.files.exists(paths.containerdConfig))) return undefined;
  const launched = await host.processes.launch({
    program: 'containerd',
    args: ['--config', paths.containerdConfig],
    stdoutFile: stdoutFile(paths, 'containerd'),
    stderrFile: logFile(paths, 'containerd'),
    lifeline: false,
  });
  await writeProcessFile(host.files, paths.processFile('containerd'), launched);
  return launched;
}

/** In a runtime that others use too, the cluster's pods are those that its kubelet has folders for. */
async function podUids(cluster: FoundCluster, host: ClusterHost): Promise<ReadonlySet<string>> {
  return new Set((await host.files.list(`${cluster.paths.kubeletRoot}/pods`)).map((entry) => entry.name));
}
