import { ContentDefinition, type Status } from '../generated/containerd-services-content-v1.ts';
import type { GrpcChannel } from '../grpc/channel.ts';
import { GrpcFailure, grpcStatus } from '../grpc/failure.ts';

/** A part of an image that is on its way into containerd's store. */
export interface Download {
  /** `layer-sha256:...`, `config-sha256:...`, `manifest-sha256:...`, `index-sha256:...` */
  readonly ref: string;
  readonly bytes: number;
  /** 0: not known. */
  readonly totalBytes: number;
  /** When the last bytes came; epoch. */
  readonly updatedAtMs: number;
}

/** CRI keeps everything in this namespace of containerd. */
const headers = { 'containerd-namespace': 'k8s.io' };
const timeoutMs = 5000;

/**
 * What is being downloaded, all pulls together: containerd does not say for which image.
 *
 * @returns `undefined` from a runtime that is not containerd
 */
export async function containerdDownloads(channel: GrpcChannel, signal: AbortSignal): Promise<readonly Download[] | undefined> {
  try {
    const { statuses } = await channel.call(ContentDefinition, 'listStatuses', { filters: [] }, { headers, timeoutMs }, signal);
    return statuses.map(downloadOf);
  } catch (error) {
    if (error instanceof GrpcFailure && error.status === grpcStatus.unimplemented) return undefined;
    throw error;
  }
}

function downloadOf({ ref, offset, total, updatedAt }: Status): Download {
  const updatedAtMs = (updatedAt?.seconds ?? 0) * 1000 + (updatedAt?.nanos ?? 0) / 1e6;
  return { ref: /^k8s\.io\/\d+\/(.+)$/.exec(ref)?.[1] ?? ref, bytes: offset, totalBytes: total, updatedAtMs };
}
