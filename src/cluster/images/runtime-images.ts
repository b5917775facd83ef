import { AppError, NotFound } from '#base/errors.ts';
import type { CriRuntime } from '#wire/cri/cri-runtime.ts';
import { ImageSpec } from '#wire/generated/cri.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import { type ImageContent, imageArchive } from './archive.ts';
import { imageNamesIn } from './archive-names.ts';
import { busyboxImage, busyboxImageName, pauseImage, pauseImageName } from './built-in-images.ts';

/** A runtime that images can be loaded into. */
export interface ImageTarget {
  /** `unix:///path` */
  readonly endpoint: string;
  readonly snapshotter: 'overlayfs' | 'native';
}

/** The runtime takes no archives from here. */
export class CannotLoadImages extends AppError {
  readonly code = 'CANNOT_LOAD_IMAGES';
  readonly retry = 'never';
}

/** Loads the pause and the busybox image unless they are there. CRI finds them when this returns. */
export async function ensureBuiltInImages(target: ImageTarget, runtime: CriRuntime, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const missing = async (name: string) => (await runtime.imageStatus(imageSpec(name), signal)) === undefined;
  const load = async (content: () => Promise<ImageContent>) => {
    const image = await content();
    await loadArchive(target, await imageArchive(image, host.architecture), host, signal);
    await untilVisible(image.name, runtime, host, signal);
  };
  const [needsPause, needsBusybox] = await Promise.all([missing(pauseImageName), missing(busyboxImageName)]);
  await Promise.all([
    needsPause ? load(async () => pauseImage(await programFile('catatonit', ['/usr/bin/catatonit'], host))) : undefined,
    needsBusybox ? load(() => busyboxContent(host, signal)) : undefined,
  ]);
}

/** The image that is made of this host's busybox. */
export async function busyboxContent(host: ClusterHost, signal: AbortSignal): Promise<ImageContent> {
  const [program, applets] = await Promise.all([
    programFile('busybox-static', ['/bin/busybox', '/usr/bin/busybox'], host),
    host.processes.run('busybox', ['--list-full'], '', signal),
  ]);
  return busyboxImage(program, applets.stdout);
}

/**
 * @param archive an OCI or Docker archive
 * @returns names of the images in it
 * @throws {CannotLoadImages} when it is no archive of images, or the runtime is not containerd, or refuses it
 */
export async function loadArchive(target: ImageTarget, archive: Uint8Array, host: ClusterHost, signal: AbortSignal): Promise<readonly string[]> {
  const names = await imageNamesIn(archive);
  if (names.length === 0)
    throw new CannotLoadImages({
      message: 'this is no archive of images with names',
      hint: 'make one with `docker save NAME` or `kubernode image build`',
    });
  const socket = target.endpoint.replace(/^unix:\/\//, '');
  const args = ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', '--snapshotter', target.snapshotter, '-'];
  let result: Awaited<ReturnType<typeof host.processes.run>>;
  try {
    result = await host.processes.run('ctr', args, archive, signal);
  } catch (cause) {
    if (!(cause instanceof NotFound)) throw cause;
    throw new CannotLoadImages({ message: 'images are loaded with ctr, which is not installed', hint: 'apt-get install containerd', cause });
  }
  if (result.status !== 0) {
    throw new CannotLoadImages({
      message: `the runtime at ${socket} does not take the archive: ${lastLine(result.stderr)}`,
      hint: 'only containerd takes archives; another runtime needs its own tool, or a registry',
    });
  }
  return names;
}

/** CRI's own list of images follows the runtime's events: an image is there a moment before CRI finds it. */
export async function untilVisible(name: string, runtime: CriRuntime, host: ClusterHost, signal: AbortSignal): Promise<void> {
  const giveUpAtMs = host.clock.monotonic() + 10_000;
  while ((await runtime.imageStatus(imageSpec(name), signal)) === undefined) {
    if (host.clock.monotonic() > giveUpAtMs) throw new CannotLoadImages({ message: `the runtime does not show ${name} 10 s after it was loaded` });
    await host.clock.sleep(5, signal);
  }
}

export function imageSpec(image: string): ImageSpec {
  return ImageSpec.fromPartial({ image });
}

async function programFile(debianPackage: string, paths: readonly string[], host: ClusterHost): Promise<Uint8Array> {
  for (const path of paths) {
    const content = await host.files.readBytes(path);
    if (content !== undefined) return content;
  }
  throw new NotFound({ message: `${paths.join(' or ')} is needed to build an image, and is not there`, hint: `apt-get install ${debianPackage}` });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
