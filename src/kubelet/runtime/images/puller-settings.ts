import type { KubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import type { ImagePullerSettings } from './image-puller.ts';

/** Upstream's numbers. */
export const defaultImagePullerSettings: ImagePullerSettings = {
  backoff: { baseMs: 10_000, maxMs: 300_000, forgetAfterMs: 600_000 },
  maxParallelPulls: 1,
  pullsPerSecond: 5,
  pullBurst: 10,
  verification: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
};

/** One pull at a time, unless the configuration says otherwise in one of its two ways. */
export function imagePullerSettings(configuration: KubeletConfiguration): Omit<ImagePullerSettings, 'backoff'> {
  const { serializeImagePulls, maxParallelImagePulls, registryPullQPS, registryBurst } = configuration;
  const isSerial = serializeImagePulls ?? (maxParallelImagePulls ?? 1) === 1;
  return {
    maxParallelPulls: isSerial ? 1 : (maxParallelImagePulls ?? Number.POSITIVE_INFINITY),
    pullsPerSecond: registryPullQPS,
    pullBurst: registryBurst,
    verification: {
      policy: configuration.imagePullCredentialsVerificationPolicy,
      allowlist: configuration.preloadedImagesVerificationAllowlist,
    },
  };
}
