import type { ImagesPort, MissingImage } from '../../ports/images.ts';
import type { PodCounts } from '../../ports/pod-counts.ts';
import type { StartRequest } from '../../ports/pod-runtime.ts';
import { ContainerConfigError } from '../environment.ts';
import type { NodeConfig } from '../node-config.ts';

export type VolumeImages =
  /** What the runtime calls each image, by volume. */
  | { readonly kind: 'ready'; readonly refs: ReadonlyMap<string, string> }
  | { readonly kind: 'missing'; readonly image: MissingImage; readonly reference: string };

interface Deps {
  readonly images: ImagesPort;
  readonly node: Pick<NodeConfig, 'imageVolumesProblem'>;
  readonly counts?: PodCounts | undefined;
}

/**
 * Gets the images that the container mounts as volumes.
 *
 * @throws {ContainerConfigError} when the runtime cannot mount images
 */
export async function ensureVolumeImages(
  { pod, container }: StartRequest,
  fieldPath: string,
  { images, node, counts }: Deps,
  signal: AbortSignal,
): Promise<VolumeImages> {
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name));
  const refs = new Map<string, string>();
  for (const { name, image: source } of pod.spec?.volumes ?? []) {
    if (source === undefined || !mounted.has(name)) continue;
    counts?.imageVolume('requested');
    const problem = await node.imageVolumesProblem(signal);
    if (problem !== '') {
      counts?.imageVolume('failed');
      const message = `volume "${name}" is an image, and ${problem}`;
      throw new ContainerConfigError({ message, hint: 'use a newer container runtime, or copy what is in the image by an init container' });
    }
    const reference = source.reference ?? '';
    const image = await images.ensure(pod, { name: container.name, image: reference, imagePullPolicy: source.pullPolicy }, fieldPath, signal);
    counts?.imageVolume(image.kind === 'missing' ? 'failed' : 'mounted');
    if (image.kind === 'missing') return { kind: 'missing', image, reference };
    refs.set(name, image.ref);
  }
  return { kind: 'ready', refs };
}
