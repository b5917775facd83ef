import type { EphemeralContainer, Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { ContainerConfig, Mount, UserNamespace } from '#wire/generated/cri.ts';
import { type KubeletRoots, podPaths } from '../../paths.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { ReadyImage } from '../../ports/images.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import type { StartRequest } from '../../ports/pod-runtime.ts';
import type { VolumesPort } from '../../ports/volumes.ts';
import { containerConfig } from '../container-config.ts';
import { asksRecursiveReadOnly, plainMount, subPathWishes, volumeMounts } from '../container-mounts.ts';
import { ContainerConfigError, environment, readNamedObjects } from '../environment.ts';
import { podHostname } from '../hostname.ts';
import { hostNetworkHostsFile, hostsFile } from '../hosts-file.ts';
import type { NodeConfig } from '../node-config.ts';
import { newestOf, type PodRuntimeState } from '../pod-runtime-state.ts';
import { containerSecurityContext } from '../security-context.ts';
import { serviceVariables } from '../service-variables.ts';

export interface PrepareDeps {
  readonly files: FilesPort;
  readonly volumes: Pick<VolumesPort, 'prepareSubPath'>;
  readonly objects: ObjectsPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly roots: KubeletRoots;
  readonly node: NodeConfig;
  /** @throws {NotFound} when there is no such class */
  readonly runtimeHandlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
  /** 8 hex digits, another each time. */
  readonly randomName: () => string;
}

const hostsMode = 0o644;
const logDirMode = 0o755;
const podDirMode = 0o750;
const lastWordsMode = 0o666;

/** What is made before the container's configuration. */
export interface Prepared {
  readonly image: ReadyImage;
  /** Images that are volumes of the container: what the runtime calls them, by volume. */
  readonly volumeImages: ReadonlyMap<string, string>;
  readonly observed: PodRuntimeState;
  readonly users: UserNamespace;
}

/**
 * The container's configuration, and on disk everything that it names.
 *
 * @throws {ContainerConfigError} when it cannot be made as things are, {BadHostname}, {UnsupportedPolicy}
 */
export async function prepareConfig(request: StartRequest, made: Prepared, deps: PrepareDeps, signal: AbortSignal): Promise<ContainerConfig> {
  const { pod, container, volumes } = request;
  const { files, roots, node } = deps;
  const { image, observed, users } = made;
  const targetId = targetOf(request, observed);
  const paths = podPaths(roots, pod.metadata);
  const podIPs = pod.spec?.hostNetwork === true ? node.hostIPs() : request.podIPs;
  const env = await environmentOf(request, podIPs, deps, signal);
  const ofNode = await node.security(signal);
  const security = containerSecurityContext(pod, container, { image, targetId, users, seccompRoot: `${roots.root}/seccomp`, ...ofNode });
  const mountsInput = { volumes, images: made.volumeImages, env };
  const [subPaths, restartCount, canRecursiveReadOnly, allocation] = await Promise.all([
    bindSubPaths(request, mountsInput, deps, signal),
    nextRestartCount(request, observed, deps, signal),
    canMountRecursiveReadOnly(request, deps, signal),
    node.prepareAllocation(pod, container, signal),
  ]);
  const mounts: Mount[] = [...volumeMounts(container, { ...mountsInput, subPaths, canRecursiveReadOnly })];
  await files.ensureDirectory(paths.containerLogs(container.name), logDirMode, signal);
  const hosts = await writeHostsFile({ ...request, podIPs }, deps, signal);
  if (hosts !== undefined) mounts.push(plainMount('/etc/hosts', hosts));
  const lastWords = await makeLastWords(request, deps, signal);
  if (lastWords !== undefined) mounts.push(lastWords);
  const { uids, gids } = users;
  const mapped = uids.length === 0 ? mounts : mounts.map((mount) => ({ ...mount, uidMappings: [...uids], gidMappings: [...gids] }));
  const resources = node.resourcesOf(pod, container);
  return containerConfig({ pod, container, restartCount, imageRef: image.ref, env, mounts: mapped, resources, security, allocation });
}

async function environmentOf(
  { pod, container, volumes }: StartRequest,
  podIPs: readonly string[],
  { node, ...deps }: PrepareDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const linked = pod.spec?.enableServiceLinks;
  if (linked === undefined) throw new ContainerConfigError({ message: 'nil pod.spec.enableServiceLinks encountered, cannot construct envvars' });
  const [named, services] = await Promise.all([readNamedObjects(pod, container, volumes, deps, signal), node.services(pod, signal)]);
  const told = serviceVariables(pod, services, linked);
  return environment({ pod, container, podIPs, hostIPs: node.hostIPs(), allocatable: node.allocatable(), services: told }, named);
}

/** @returns '' for none @throws {ContainerConfigError} when it was never started */
function targetOf({ container, kind, pod }: StartRequest, observed: PodRuntimeState): string {
  if (kind !== 'ephemeral') return '';
  const name = pod.spec?.ephemeralContainers?.find((one: EphemeralContainer) => one.name === container.name)?.targetContainerName ?? '';
  if (name === '') return '';
  const target = newestOf(observed, name);
  if (target === undefined) throw new ContainerConfigError({ message: `unable to find target container ${name}` });
  return target.id;
}

async function canMountRecursiveReadOnly({ pod, container }: StartRequest, deps: PrepareDeps, signal: AbortSignal): Promise<boolean> {
  if (!asksRecursiveReadOnly(container)) return false;
  return deps.node.featuresOf(await deps.runtimeHandlerOf(pod, signal))?.recursiveReadOnlyMounts === true;
}

async function bindSubPaths(
  { pod, container }: StartRequest,
  input: Parameters<typeof subPathWishes>[1],
  deps: PrepareDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const bound = new Map<number, string>();
  for (const { index, volume, relative } of subPathWishes(container, input)) {
    const subPath = { podUid: pod.metadata.uid, containerName: container.name, index, volume, relative };
    try {
      bound.set(index, await deps.volumes.prepareSubPath(subPath, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error;
      // Who may write into the volume must not learn about paths of the node: the details are for the log.
      deps.logger.warn('a sub path cannot be bound', { pod: pod.metadata.uid, volume: volume.name, subPath: relative, error: error.message });
      const where = `for volumeMount "${volume.name}" of container "${container.name}"`;
      throw new ContainerConfigError({ message: `failed to prepare subPath ${where}`, cause: error });
    }
  }
  return bound;
}

async function makeLastWords({ pod, container }: StartRequest, deps: PrepareDeps, signal: AbortSignal): Promise<Mount | undefined> {
  const path = container.terminationMessagePath ?? '';
  if (path === '') return undefined;
  const directory = podPaths(deps.roots, pod.metadata).container(container.name);
  const file = `${directory}/${deps.randomName()}`;
  await deps.files.ensureDirectory(directory, podDirMode, signal);
  await deps.files.write(file, '', lastWordsMode, signal);
  return plainMount(path, file);
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
