import { NotFound } from '#base/errors.ts';
import { createCriRuntime } from '#wire/cri/cri-runtime.ts';
import { findCluster } from '../find-clusters.ts';
import type { ClusterHost } from '../ports/cluster-host.ts';
import type { RuntimeSettings } from '../settings.ts';
import { loadArchive, untilVisible } from './runtime-images.ts';

/** An image that a cluster's runtime has. */
export interface ImageFacts {
  /** Without names for one that is only known by its id. */
  readonly names: readonly string[];
  readonly id: string;
  readonly sizeBytes: number;
}

export interface ClusterOfImages {
  readonly name: string;
  readonly dataDir?: string | undefined;
}

/**
 * Loads an OCI or Docker archive into a cluster's runtime; pods can use its images when this returns.
 *
 * @returns the names of the images
 * @throws {NotFound} when the cluster is not running; {CannotLoadImages}
 */
export async function loadImage(cluster: ClusterOfImages, archive: Uint8Array, host: ClusterHost, signal: AbortSignal): Promise<readonly string[]> {
  const settings = await runtimeOf(cluster, host);
  const names = await loadArchive(settings, archive, host, signal);
  const runtime = createCriRuntime({ endpoint: settings.endpoint, clock: host.clock, containerdEvents: false });
  try {
    for (const name of names) await untilVisible(name, runtime, host, signal);
  } finally {
    runtime.close();
  }
  return names;
}

export async function listImages(cluster: ClusterOfImages, host: ClusterHost, signal: AbortSignal): Promise<readonly ImageFacts[]> {
  const settings = await runtimeOf(cluster, host);
  const runtime = createCriRuntime({ endpoint: settings.endpoint, clock: host.clock, containerdEvents: false });
  try {
    const images = await runtime.listImages(signal);
    return images.map(({ id, repoTags, size }) => ({ id, names: repoTags, sizeBytes: size }));
  } finally {
    runtime.close();
  }
}

async function runtimeOf({ name, dataDir }: ClusterOfImages, host: ClusterHost): Promise<RuntimeSettings> {
  const { settings } = await findCluster(name, dataDir, host);
  if (settings === undefined) throw new NotFound({ message: `there is no cluster ${name}`, hint: 'start one with `kubernode up`' });
  if (settings.apiOnly) throw new NotFound({ message: `cluster ${name} has no node, so there is nowhere to load images into` });
  const connection = await host.sockets.connect(settings.runtime.endpoint.replace(/^unix:\/\//, ''));
  if (connection === undefined)
    throw new NotFound({ message: `the container runtime of cluster ${name} does not run`, hint: 'start the cluster with `kubernode up`' });
  connection.close();
  return settings.runtime;
}
