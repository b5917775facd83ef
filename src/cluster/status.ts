import { withDeadline } from '#base/abort.ts';
import { AppError } from '#base/errors.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { readKubeconfig } from '#wire/http/kubeconfig.ts';
import { createHttpTransport } from '#wire/http/transport.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { type FoundCluster, findCluster, isLive } from './find-clusters.ts';
import type { ClusterHost } from './ports/cluster-host.ts';
import type { ClusterSettings } from './settings.ts';
import type { PartStatus } from './supervisor/part.ts';
import { readPartStatus } from './supervisor/supervisor-client.ts';
import { readyConditionOf } from './up/wait-for-node.ts';

export interface PartHealth {
  /** `supervisor`, `containerd`, `control-plane`, `kubelet`, `node`. */
  readonly part: string;
  readonly isHealthy: boolean;
  /** In words: what it is doing, or what is wrong. */
  readonly detail: string;
  readonly pid: number | undefined;
  readonly restarts: number | undefined;
}

export interface ClusterStatus {
  readonly name: string;
  /** `absent`: nothing of it; `stopped`: only its data. */
  readonly state: 'absent' | 'stopped' | 'running';
  readonly settings: ClusterSettings | undefined;
  readonly paths: ClusterPaths;
  readonly parts: readonly PartHealth[];
}

const withinMs = 5000;

/** Asks each part itself; a process that only lives is not healthy. */
export async function clusterStatus(name: string, dataDir: string | undefined, host: ClusterHost, signal: AbortSignal): Promise<ClusterStatus> {
  const cluster = await findCluster(name, dataDir, host);
  const { settings, paths } = cluster;
  if (!isLive(cluster)) return { name, state: settings === undefined ? 'absent' : 'stopped', settings, paths, parts: [] };
  const supervised = await readPartStatus(host.sockets, paths.supervisorSocket, signal);
  const health = async (part: string, ask: () => Promise<string | undefined>): Promise<PartHealth> => {
    const problem = await problemOf(ask, signal);
    return {
      part,
      isHealthy: problem === undefined,
      detail: problem ?? 'serves',
      pid: cluster.processes[part]?.pid,
      restarts: supervised?.find((candidate) => candidate.name === part)?.restarts,
    };
  };
  const parts = await Promise.all([
    health('supervisor', async () =>
      supervised === undefined ? 'does not answer: parts that end are not started again; `kubernode up` mends it' : undefined,
    ),
    health(
      'control-plane',
      async () => processProblem('control-plane', cluster, supervised) ?? (await askApi('/readyz', cluster, host, signal)).problem,
    ),
    ...(settings?.apiOnly === true
      ? []
      : [
          health('containerd', () => runtimeProblem(cluster, host, signal)),
          health('kubelet', async () => processProblem('kubelet', cluster, supervised)),
          health('node', () => nodeProblem(cluster, host, signal)),
        ]),
  ]);
  return { name, state: 'running', settings, paths, parts };
}

async function problemOf(ask: () => Promise<string | undefined>, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    return error.message;
  }
}

function processProblem(part: string, cluster: FoundCluster, supervised: readonly PartStatus[] | undefined): string | undefined {
  const status = supervised?.find((candidate) => candidate.name === part);
  if (cluster.processes[part] === undefined)
    return status?.lastEnd === undefined ? 'is not running' : `is not running: it ended with ${status.lastEnd}`;
  return status?.phase === 'starting' ? 'is starting' : undefined;
}

async function runtimeProblem(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<string | undefined> {
  if (cluster.settings === undefined) return 'its settings cannot be read';
  const { endpoint } = cluster.settings.runtime;
  const runtime = createCriRuntime({ endpoint, clock: host.clock, containerdEvents: false, requestTimeoutMs: withinMs });
  try {
    const bad = (await runtime.status(signal)).status?.conditions.find((condition) => !condition.status);
    return bad === undefined ? undefined : `${bad.type} is false: ${bad.reason} ${bad.message}`.trim();
  } finally {
    runtime.close();
  }
}

async function nodeProblem(cluster: FoundCluster, host: ClusterHost, signal: AbortSignal): Promise<string | undefined> {
  if (cluster.settings === undefined) return 'its settings cannot be read';
  const { problem, body } = await askApi(`/api/v1/nodes/${cluster.settings.nodeName}`, cluster, host, signal);
  if (problem !== undefined) return problem;
  const ready = readyConditionOf(JSON.parse(body));
  return ready?.status === 'True' ? undefined : `is not Ready: ${ready?.reason ?? 'no condition'} ${ready?.message ?? ''}`.trim();
}

async function askApi(
  path: string,
  cluster: FoundCluster,
  host: ClusterHost,
  signal: AbortSignal,
): Promise<{ readonly problem: string | undefined; readonly body: string }> {
  const text = await host.files.readText(cluster.paths.adminKubeconfig);
  if (text === undefined) return { problem: `${cluster.paths.adminKubeconfig} is missing: \`kubernode up\` makes it again`, body: '' };
  const transport = createHttpTransport(readKubeconfig(text));
  try {
    return await withDeadline(`GET ${path}`, withinMs, host.clock, signal, async (inner) => {
      const response = await transport.send(
        { method: 'GET', path, query: new URLSearchParams(), headers: { accept: 'application/json' }, body: undefined },
        inner,
      );
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      return { problem: response.status === 200 ? undefined : `GET ${path} answers ${response.status}: ${body.slice(0, 200)}`, body };
    });
  } finally {
    await transport.close();
  }
}
