import type { Pod } from '#api/types/core-v1.ts';
import { AppError, NotFound } from '#base/errors.ts';
import { withGrpcStatus } from '#wire/cri/errors.ts';
import { type Container, ContainerState, PodSandboxState } from '#wire/generated/cri.ts';
import { GrpcFailure, grpcStatus } from '#wire/grpc/failure.ts';
import type { RuntimePort } from '../ports/runtime.ts';
import { Refusal } from './answer.ts';
import type { ContainerTarget, KubeletRoute } from './kubelet-route.ts';

export type StreamRoute = KubeletRoute & { readonly kind: 'exec' | 'attach' | 'portForward' };

type StreamRuntime = Pick<RuntimePort, 'exec' | 'attach' | 'portForward' | 'listContainers' | 'listPodSandboxes'>;

/**
 * Where the runtime serves the stream that is asked for.
 *
 * @param pod undefined when the kubelet knows no such pod
 * @throws {Refusal}
 */
export async function streamUrl(
  runtime: StreamRuntime,
  pod: Pod | undefined,
  route: StreamRoute,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<URL> {
  const url = await translated(() =>
    route.kind === 'portForward' ? portForwardUrl(runtime, pod, route, query, signal) : containerUrl(runtime, pod, route, query, signal),
  );
  return new URL(url);
}

/** The running container that is meant. @param missing what to say when there is none @throws {Refusal} */
export async function runningContainer(
  runtime: Pick<RuntimePort, 'listContainers'>,
  pod: Pod,
  { container: name, uid = pod.metadata.uid }: Pick<ContainerTarget, 'container' | 'uid'>,
  missing: string,
  signal: AbortSignal,
): Promise<Container> {
  if (uid !== pod.metadata.uid) throw new Refusal(500, missing);
  const labels = { [podUidLabel]: uid, [containerNameLabel]: name };
  const [container] = await runtime.listContainers({ state: { state: ContainerState.CONTAINER_RUNNING }, labelSelector: labels }, signal);
  if (container === undefined) throw new Refusal(500, missing);
  return container;
}

const podUidLabel = 'io.kubernetes.pod.uid';
const containerNameLabel = 'io.kubernetes.container.name';

async function containerUrl(
  runtime: StreamRuntime,
  pod: Pod | undefined,
  route: ContainerTarget & { readonly kind: 'exec' | 'attach' },
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<string> {
  const wanted = (name: string): boolean => query.get(name) === '1';
  const isTty = route.kind === 'exec' ? wanted('tty') : ttyOf(pod, route.container);
  const streams = { stdin: wanted('input'), stdout: wanted('output'), stderr: wanted('error') && !isTty, tty: isTty };
  if (!wanted('input') && !wanted('output') && !wanted('error')) throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  const fullName = `${route.pod}_${route.namespace}`;
  const missing = route.kind === 'exec' ? `container not found ("${route.container}")` : `container ${route.container} not found in pod ${fullName}`;
  const { id } = await runningContainer(runtime, pod, route, missing, signal);
  if (route.kind === 'attach') return await runtime.attach({ containerId: id, ...streams }, signal);
  return await runtime.exec({ containerId: id, command: query.getAll('command'), ...streams }, signal);
}

async function portForwardUrl(
  runtime: StreamRuntime,
  pod: Pod | undefined,
  route: Omit<ContainerTarget, 'container'>,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<string> {
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  if (route.uid !== undefined && route.uid !== pod.metadata.uid) throw new Refusal(404, 'pod not found');
  const filter = { state: { state: PodSandboxState.SANDBOX_READY }, labelSelector: { [podUidLabel]: pod.metadata.uid } };
  const sandboxes = await runtime.listPodSandboxes(filter, signal);
  const newest = [...sandboxes].sort((a, b) => b.createdAt - a.createdAt)[0];
  if (newest === undefined) throw new Refusal(500, `pod not found ("${route.pod}_${route.namespace}")`);
  // SPDY clients name the ports in their streams; WebSocket clients here.
  const ports = query
    .getAll('port')
    .flatMap((list) => list.split(','))
    .map(Number);
  const bad = ports.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535);
  if (bad !== undefined) throw new Refusal(400, `query parameter "port" is not valid: ${query.getAll('port').join(',')}`);
  return await runtime.portForward(newest.id, ports, signal);
}

function ttyOf(pod: Pod | undefined, containerName: string): boolean {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === containerName)?.tty === true;
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isBusy = error instanceof AppError && error.cause instanceof GrpcFailure && error.cause.status === grpcStatus.resourceExhausted;
    if (isBusy) throw new Refusal(429, withGrpcStatus(error), { 'retry-after': '60' }); // so long runtimes keep streams that nobody takes
    throw new Refusal(error instanceof NotFound ? 404 : 500, withGrpcStatus(error));
  }
}
