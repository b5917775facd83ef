import type { KindRef } from '#api/kind.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { withDeadline } from '#base/abort.ts';
import { AppError } from '#base/errors.ts';
import { createClient } from '#client/api-client.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport } from '#wire/http/transport.ts';
import type { FoundCluster } from '../find-clusters.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { LivingOwners } from './audit-entries.ts';

const pods: KindRef<Pod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' };
const withinMs = 5000;

/** Asks the runtime and the API server; who does not answer knows nobody. */
export async function findLivingOwners(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<LivingOwners> {
  const [runtime, api] = await Promise.all([
    answerOrNone(() => askRuntime(cluster, host, signal), signal),
    answerOrNone(() => askApi(cluster, host, signal), signal),
  ]);
  return { containers: runtime?.containers ?? new Map(), pods: new Map([...(api ?? []), ...(runtime?.pods ?? [])]) };
}

async function answerOrNone<T>(ask: () => Promise<T | undefined>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    return undefined;
  }
}

async function askRuntime(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<LivingOwners | undefined> {
  const endpoint = cluster.runtime?.endpoint;
  const connection = endpoint === undefined ? undefined : await host.sockets.connect(endpoint.replace(/^unix:\/\//, ''));
  if (endpoint === undefined || connection === undefined) return undefined;
  connection.close();
  const runtime = createCriRuntime({ endpoint, clock: host.clock, containerdEvents: false, requestTimeoutMs: withinMs });
  try {
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes({}, signal), runtime.listContainers({}, signal)]);
    const named = sandboxes.map(({ id, metadata }) => ({ id, uid: metadata?.uid ?? '', pod: `${metadata?.namespace}/${metadata?.name}` }));
    const podOf = new Map(named.map(({ id, pod }) => [id, pod]));
    return {
      containers: new Map([
        ...named.map(({ id, pod }) => [id, `sandbox of pod ${pod}`] as const),
        ...containers.map(({ id, metadata, podSandboxId }) => [id, `container ${metadata?.name} of pod ${podOf.get(podSandboxId) ?? '?'}`] as const),
      ]),
      pods: new Map(named.map(({ uid, pod }) => [uid, pod])),
    };
  } finally {
    runtime.close();
  }
}

async function askApi(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<ReadonlyMap<string, string> | undefined> {
  const text = cluster.processes['control-plane'] === undefined ? undefined : await host.files.readText(cluster.paths.adminKubeconfig);
  if (text === undefined) return undefined;
  const transport = createHttpTransport(readKubeconfig(text));
  try {
    const list = await withDeadline('list of pods', withinMs, host.clock, signal, (inner) => createClient(transport).list(pods, {}, inner));
    return new Map(list.items.map(({ metadata }) => [metadata.uid ?? '', `${metadata.namespace}/${metadata.name}`]));
  } finally {
    await transport.close();
  }
}
