import { once } from 'node:events';
import { Registry } from 'prom-client';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import type { ContainerStatus, Pod } from '#api/types/core-v1.ts';
import { streamingRoutes } from '#apiserver/subresources/streaming-routes.ts';
import { systemClock } from '#base/clock.ts';
import { silentLogger } from '#base/log.ts';
import { createClient } from '#client/api-client.ts';
import type { Client } from '#client/client.ts';
import { createAuthenticator } from '#kubelet/server/access/authenticator.ts';
import { createGuard } from '#kubelet/server/access/guard.ts';
import { createKubeletServer, type KubeletServer } from '#kubelet/server/kubelet-server.ts';
import { createRequestMetrics } from '#kubelet/server/request-metrics.ts';
import { flagsPage } from '#kubelet/server/zpages.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { linuxLogFiles } from '#os/linux/log-files.ts';
import { createAuthority, issueCertificate } from '#pki/certificate.ts';
import type { CriRuntime } from '#wire/cri/cri-runtime.ts';
import { ContainerConfig, ContainerState } from '#wire/generated/cri.ts';
import { startApiServer, type TestApiServer } from './api-server.ts';
import { type HostSide, never, sandboxConfig } from './host-side.ts';

export const nodeName = 'node-1';

/** An API server and a kubelet's server over a real runtime; the pods are started by hand, there is no kubelet behind the server. */
export interface StreamingNode extends AsyncDisposable {
  readonly api: TestApiServer;
  readonly kubelet: KubeletServer;
  readonly kubeletPort: number;
  readonly client: Client;
  /** Whose certificates the kubelet has and takes. */
  readonly caPem: string;
  /** A client that it knows and does not let in. */
  readonly stranger: { readonly cert: string; readonly key: string };
  /** Starts the pod with its containers and makes its object. */
  run(name: string, containers: Readonly<Record<string, readonly string[]>>, options?: { readonly stdin?: boolean }): Promise<void>;
  /** Brings the pod's status up to what the runtime says now. */
  refresh(name: string): Promise<Pod>;
}

/** Certificates need no review. */
const notAsked = (): Promise<never> => Promise.reject(new Error('nobody is asked'));

interface Started {
  readonly sandbox: string;
  readonly containers: ReadonlyMap<string, string>;
}

export async function startStreamingNode(side: HostSide, runtime: CriRuntime): Promise<StreamingNode> {
  const authority = await createAuthority({ commonName: 'test-ca', clock: systemClock });
  const issue = (commonName: string, usages: 'client' | 'server') =>
    issueCertificate({
      authority,
      commonName,
      organizations: [],
      dnsNames: [],
      ipAddresses: ['127.0.0.1'],
      usages,
      validMs: 3_600_000,
      clock: systemClock,
    });
  const serving = await issue('system:node:node-1', 'server');
  const asking = await issue('kube-apiserver-kubelet-client', 'client');
  const stranger = await issue('system:node:node-2', 'client');
  const pods = new Map<string, Pod>();
  const listeners = new Set<() => void>();
  const files = createLinuxFiles();
  const kubelet = createKubeletServer({
    tls: { cert: serving.certPem, key: serving.keyPem, clientCa: authority.certPem },
    runtime,
    logFiles: linuxLogFiles,
    pods: () => [...pods.values()],
    onPodsChanged: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    runtimePods: () => [],
    health: new Map(),
    metrics: new Map(),
    summary: async () => undefined,
    config: {},
    statusz: () => flagsPage({}),
    flagz: () => flagsPage({}),
    requests: createRequestMetrics(new Registry(), () => systemClock.monotonic()),
    streamIdleMs: undefined,
    checkpoints: { runtime, files, directory: '/nowhere', now: () => systemClock.now() },
    systemLogs: { directory: '/nowhere', files, logFiles: linuxLogFiles },
    more: new Map(),
    switches: { debugging: true, profiling: true, debugFlags: true, systemLogs: true },
    guard: createGuard({
      authenticate: createAuthenticator({ create: notAsked }, { anonymous: false, tokens: undefined }, systemClock),
      authorize: async ({ name }) => name === 'kube-apiserver-kubelet-client',
      logger: silentLogger,
    }),
    clock: systemClock,
    logger: silentLogger,
  });
  const kubeletPort = await kubelet.listen({ host: '127.0.0.1', port: 0 });
  const api = await startApiServer({ extraRoutes: [streamingRoutes({ tls: { caPem: authority.certPem, ...asking } })] });
  const client = createClient(api.server.transportAs({ name: 'admin', groups: ['system:masters'] }));
  await client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } }, never);
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } };
  await client.create(nodeKind, { metadata: { name: nodeName } }, never);
  await client.patch(nodeKind, { name: nodeName }, 'strategic', { status }, 'status', never);
  const started = new Map<string, Started>();

  const refresh = async (name: string): Promise<Pod> => {
    const containers = await Promise.all([...(started.get(name)?.containers ?? [])].map(([container, id]) => statusOf(runtime, container, id)));
    const patch = { status: { phase: 'Running', containerStatuses: containers } };
    const pod = await client.patch(podKind, { namespace: 'default', name }, 'strategic', patch, 'status', never);
    pods.set(name, pod);
    for (const listener of [...listeners]) listener();
    return pod;
  };
  return {
    api,
    kubelet,
    kubeletPort,
    client,
    caPem: authority.certPem,
    stranger: { cert: stranger.certPem, key: stranger.keyPem },
    refresh,
    async run(name, containers, options = {}) {
      const spec = {
        nodeName,
        automountServiceAccountToken: false,
        containers: Object.entries(containers).map(([container, command]) => ({
          name: container,
          image: 'busybox',
          command,
          stdin: options.stdin === true,
        })),
      };
      const pod = await client.create(podKind, { metadata: { name, namespace: 'default' }, spec }, never);
      started.set(name, await startPod(side, runtime, pod, options.stdin === true));
      await refresh(name);
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await kubelet.close();
      for (const { sandbox } of started.values()) {
        await runtime.stopPodSandbox(sandbox, never);
        await runtime.removePodSandbox(sandbox, never);
      }
    },
  };
}

async function startPod(side: HostSide, runtime: CriRuntime, pod: Pod, stdin: boolean): Promise<Started> {
  const { name, namespace = '', uid } = pod.metadata;
  const labels = { 'io.kubernetes.pod.uid': uid, 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': namespace };
  const config = sandboxConfig(side, name, { metadata: { name, uid, namespace, attempt: 0 }, labels });
  const sandbox = await runtime.runPodSandbox(config, '', never);
  const containers = new Map<string, string>();
  for (const container of pod.spec?.containers ?? []) {
    const wanted = ContainerConfig.fromPartial({
      metadata: { name: container.name, attempt: 0 },
      image: { image: 'docker.io/library/busybox:latest' },
      command: [...(container.command ?? [])],
      labels: { ...labels, 'io.kubernetes.container.name': container.name },
      logPath: `${container.name}.log`,
      stdin,
      stdinOnce: stdin, // otherwise the runtime detaches the output too when the input ends
      linux: {},
    });
    const id = await runtime.createContainer(sandbox, wanted, config, never);
    await runtime.startContainer(id, never);
    containers.set(container.name, id);
  }
  return { sandbox, containers };
}

async function statusOf(runtime: CriRuntime, name: string, id: string): Promise<ContainerStatus> {
  const status = await runtime.containerStatus(id, never);
  const containerID = `containerd://${id}`;
  const isRunning = status?.state === ContainerState.CONTAINER_RUNNING;
  const state = isRunning ? { running: { startedAt: '2030-01-01T00:00:00Z' } } : { terminated: { exitCode: status?.exitCode ?? 0, containerID } };
  return { name, state, containerID, ready: isRunning, restartCount: 0, image: 'busybox', imageID: 'busybox' };
}

/** Resolves with the part of a program's output that matches. */
export async function firstMatch(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = '';
  for (;;) {
    const [chunk] = (await once(stream, 'data')) as [Buffer];
    text += String(chunk);
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
}
