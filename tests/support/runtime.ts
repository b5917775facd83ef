import { readFile } from 'node:fs/promises';
import type { Pod } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import type { TestCluster } from '#testing/create-cluster.ts';
import { runProgram } from '#testing/run-program.ts';
import { type CriRuntime, createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { ContainerState, PodSandboxState } from '#wire/generated/cri.ts';
import { outputOf } from './kubectl.ts';

/** `ctr` on the cluster's own containerd: the runtime's own view, past everything that we wrote. */
export async function ctr(cluster: TestCluster, words: readonly string[]): Promise<string> {
  return outputOf(await runProgram(['ctr', '--address', cluster.paths.containerdSocket, '--namespace', 'k8s.io', ...words], 30_000));
}

/** Process id of the container's or sandbox's task, as containerd knows it. */
async function processOf(cluster: TestCluster, containerId: string): Promise<number> {
  const row = (await ctr(cluster, ['tasks', 'list'])).split('\n').find((line) => line.startsWith(containerId));
  const pid = Number(row?.split(/\s+/)[1]);
  if (!(pid > 1)) throw new Error(`containerd has no task of ${containerId}`);
  return pid;
}

/** Main process of the pod's first container. */
export async function mainProcessOf(cluster: TestCluster, pod: Pod): Promise<number> {
  return await processOf(cluster, containerIdOf(pod));
}

/** The runtime's id of a container of the pod, as its status tells; of the first one unless it is named. */
export function containerIdOf({ metadata, status }: Pod, name?: string): string {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const id = all.find((one) => name === undefined || one.name === name)?.containerID?.replace('containerd://', '');
  if (id === undefined) throw new Error(`pod ${metadata.name} has no container ${name ?? ''}`);
  return id;
}

export async function pauseProcessOf(cluster: TestCluster, sandboxId: string): Promise<number> {
  return await processOf(cluster, sandboxId);
}

/** Id of the pod's only running sandbox. */
export async function sandboxIdOf(cluster: TestCluster, pod: Pod): Promise<string> {
  const ids = (
    await ctr(cluster, [
      'containers',
      'list',
      '--quiet',
      `labels."io.kubernetes.pod.uid"==${pod.metadata.uid},labels."io.cri-containerd.kind"==sandbox`,
    ])
  )
    .trim()
    .split('\n');
  const running = (await ctr(cluster, ['tasks', 'list']))
    .split('\n')
    .filter((line) => line.includes('RUNNING'))
    .map((line) => line.split(/\s+/)[0]);
  const [id, ...others] = ids.filter((one) => running.includes(one));
  if (id === undefined || others.length > 0)
    throw new Error(`pod ${pod.metadata.name} has ${others.length + (id === undefined ? 0 : 1)} running sandboxes`);
  return id;
}

/** What the runtime has had of a pod: of each container by name how many were made, and how many of them ever ran. */
export interface PodInRuntime {
  readonly sandboxes: readonly { readonly id: string; readonly attempt: number; readonly ready: boolean }[];
  readonly made: Readonly<Record<string, number>>;
  readonly ran: Readonly<Record<string, number>>;
  /** Ids of those that run, by name. */
  readonly running: Readonly<Record<string, string>>;
}

export async function podInRuntime(cluster: TestCluster, podUid: string): Promise<PodInRuntime> {
  return await withRuntime(cluster, async (runtime, signal) => {
    const filter = { labelSelector: { 'io.kubernetes.pod.uid': podUid } };
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(filter, signal), runtime.listContainers(filter, signal)]);
    const made: Record<string, number> = {};
    const ran: Record<string, number> = {};
    const running: Record<string, string> = {};
    for (const { id, metadata, state } of containers) {
      const name = metadata?.name ?? '';
      made[name] = (made[name] ?? 0) + 1;
      if (state === ContainerState.CONTAINER_RUNNING) running[name] = id;
      const status = await runtime.containerStatus(id, signal);
      ran[name] = (ran[name] ?? 0) + ((status?.startedAt ?? 0) > 0 ? 1 : 0);
    }
    const attempts = sandboxes.map(({ id, metadata, state }) => ({
      id,
      attempt: metadata?.attempt ?? 0,
      ready: state === PodSandboxState.SANDBOX_READY,
    }));
    return { sandboxes: attempts, made, ran, running };
  });
}

/** Calls of a test's own to the cluster's runtime, behind the kubelet's back. */
export async function withRuntime<T>(cluster: TestCluster, work: (runtime: CriRuntime, signal: AbortSignal) => Promise<T>): Promise<T> {
  const runtime = createCriRuntime({ endpoint: `unix://${cluster.paths.containerdSocket}`, clock: systemClock, containerdEvents: false });
  try {
    return await work(runtime, new AbortController().signal);
  } finally {
    runtime.close();
  }
}

/** Process id of a part of the cluster: `kubelet`, `containerd`... */
export async function partOf(cluster: TestCluster, part: string): Promise<number> {
  return (JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { readonly pid: number }).pid;
}

/** Does the work while a part of the cluster stands still: it neither sees nor answers anything. */
export async function whileStill<T>(cluster: TestCluster, part: string, work: () => Promise<T>): Promise<T> {
  const pid = await partOf(cluster, part);
  process.kill(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
