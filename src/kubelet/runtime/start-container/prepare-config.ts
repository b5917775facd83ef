import type { Container, EphemeralContainer, Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { ContainerConfig, LinuxContainerResources, Mount } from '#wire/generated/cri.ts';
import { type KubeletRoots, podPaths } from '../../paths.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { ReadyImage } from '../../ports/images.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import type { StartRequest } from '../../ports/pod-runtime.ts';
import type { VolumesPort } from '../../ports/volumes.ts';
import { containerConfig } from '../container-config.ts';
import { plainMount, subPathWishes, volumeMounts } from '../container-mounts.ts';
import { environment, readNamedObjects } from '../environment.ts';
import { podHostname } from '../hostname.ts';
import { hostNetworkHostsFile, hostsFile } from '../hosts-file.ts';
import { newestOf, type PodRuntimeState } from '../pod-runtime-state.ts';
import { containerSecurityContext } from '../security-context.ts';

/** What every container of the node is configured with. */
export interface NodeConfig {
  readonly clusterDomain: string;
  readonly hostIPs: () => readonly string[];
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly resourcesOf: (pod: Pod, container: Container) => LinuxContainerResources;
}

export interface PrepareDeps {
  readonly files: FilesPort;
  readonly volumes: Pick<VolumesPort, 'prepareSubPath'>;
  readonly objects: ObjectsPort;
  readonly clock: Clock;
  readonly roots: KubeletRoots;
  readonly node: NodeConfig;
  /** 8 hex digits, another each time. */
  readonly randomName: () => string;
}

const hostsMode = 0o644;
const logDirMode = 0o755;
const podDirMode = 0o750;
const lastWordsMode = 0o666;

/**
 * The container's configuration, and on disk everything that it names.
 *
 * @throws {ContainerConfigError} when it cannot be made as things are, {BadHostname}, {PathEscapes}
 */
export async function prepareConfig(
  request: StartRequest,
  image: ReadyImage,
  observed: PodRuntimeState,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<ContainerConfig> {
  const { pod, container, volumes } = request;
  const { files, roots, node } = deps;
  const paths = podPaths(roots, pod.metadata);
  const hostIPs = node.hostIPs();
  const podIPs = pod.spec?.hostNetwork === true ? hostIPs : request.podIPs;
  const named = await readNamedObjects(pod, container, deps.objects, signal);
  const env = environment({ pod, container, podIPs, hostIPs, allocatable: node.allocatable() }, named);
  const target = targetOf(request);
  const targetId = target === undefined ? '' : (newestOf(observed, target)?.id ?? '');
  const security = containerSecurityContext(pod, container, image, targetId, `${roots.root}/seccomp`);
  const [subPaths, restartCount] = await Promise.all([bindSubPaths(request, env, deps, signal), nextRestartCount(request, observed, deps, signal)]);
  const mounts: Mount[] = [...volumeMounts(container, volumes, subPaths)];
  await Promise.all([
    files.ensureDirectory(paths.containerLogs(container.name), logDirMode, signal),
    writeHostsFile({ ...request, podIPs }, deps, signal).then((path) => path !== undefined && mounts.push(plainMount('/etc/hosts', path))),
  ]);
  const lastWords = container.terminationMessagePath ?? '';
  if (lastWords !== '') {
    const directory = paths.container(container.name);
    const file = `${directory}/${deps.randomName()}`;
    await files.ensureDirectory(directory, podDirMode, signal);
    await files.write(file, '', lastWordsMode, signal);
    mounts.push(plainMount(lastWords, file));
  }
  return containerConfig({ pod, container, restartCount, imageRef: image.ref, env, mounts, resources: node.resourcesOf(pod, container), security });
}

function targetOf({ container, kind, pod }: StartRequest): string | undefined {
  if (kind !== 'ephemeral') return undefined;
  return pod.spec?.ephemeralContainers?.find((one: EphemeralContainer) => one.name === container.name)?.targetContainerName;
}

async function bindSubPaths(
  { pod, container, volumes }: StartRequest,
  env: ReadonlyMap<string, string>,
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const bound = new Map<number, string>();
  for (const { index, volume, relative } of subPathWishes(container, volumes, env)) {
    const subPath = { podUid: pod.metadata.uid, containerName: container.name, index, volume, relative };
    bound.set(index, await deps.volumes.prepareSubPath(subPath, signal));
  }
  return bound;
}

/** @returns the file to mount; none when the pod has no address yet or brings its own */
async function writeHostsFile(
  { pod, container, podIPs }: StartRequest,
  { files, roots, node }: PrepareDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const brings = container.volumeMounts?.some(({ mountPath }) => mountPath === '/etc/hosts') === true;
  if (brings || podIPs.length === 0) return undefined;
  const path = podPaths(roots, pod.metadata).hostsFile;
  const hostname = podHostname(pod, node.clusterDomain);
  const content =
    pod.spec?.hostNetwork === true
      ? hostNetworkHostsFile(pod, new TextDecoder().decode(await files.read('/etc/hosts', signal)))
      : hostsFile(pod, podIPs, hostname);
  await files.write(path, content, hostsMode, signal);
  return path;
}

/** After all its records are gone the logs still tell how often a container was started. */
async function nextRestartCount(
  { pod, container }: StartRequest,
  observed: PodRuntimeState,
  { files, roots }: PrepareDeps,
  signal: AbortSignal,
): Promise<number> {
  const newest = newestOf(observed, container.name);
  if (newest !== undefined) return newest.restartCount + 1;
  const logs = await files.list(podPaths(roots, pod.metadata).containerLogs(container.name), signal);
  const numbers = logs.flatMap(({ name }) => /^(\d+)\.log/.exec(name)?.[1] ?? []).map(Number);
  return numbers.length === 0 ? 0 : Math.max(...numbers) + 1;
}
