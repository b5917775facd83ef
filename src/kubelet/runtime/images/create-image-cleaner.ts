import { NotFound } from '#base/errors.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import type { KubeletConfig, KubeletHost } from '../../kubelet-config.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import type { RuntimeCache } from '../runtime-cache.ts';
import { ImageCleaner } from './image-cleaner.ts';
import type { DiskUse } from './image-garbage.ts';
import type { ImageMetrics } from './image-metrics.ts';
import type { PullRecords } from './pull-records.ts';

interface Parts {
  readonly runtime: RuntimePort;
  readonly cache: RuntimeCache;
  readonly recorder: Pick<EventRecorder, 'emit'>;
  readonly imageMetrics: ImageMetrics;
  readonly pullRecords: PullRecords;
}

export function createImageCleaner({ nodeName, configuration }: KubeletConfig, { host, clock, logger }: KubeletHost, parts: Parts): ImageCleaner {
  const { runtime, cache, recorder, imageMetrics, pullRecords } = parts;
  const node = { kind: 'Node', apiVersion: 'v1', name: nodeName, uid: nodeName };
  return new ImageCleaner({
    runtime,
    mounted: () => cache.all().flatMap(({ containers }) => containers.flatMap(({ volumeImages }) => volumeImages ?? [])),
    records: pullRecords,
    metrics: imageMetrics,
    warn: (reason, message) => recorder.emit(node, { type: 'Warning', reason, message }),
    clock,
    logger,
    settings: {
      highThresholdPercent: configuration.imageGCHighThresholdPercent,
      lowThresholdPercent: configuration.imageGCLowThresholdPercent,
      minimumAgeMs: configuration.imageMinimumGCAge,
      maximumAgeMs: configuration.imageMaximumGCAge,
    },
    /** The runtime says where its images are, the kernel how full that is. */
    async diskUse(signal): Promise<DiskUse> {
      const [filesystem] = (await runtime.imageFsInfo(signal)).imageFilesystems;
      const path = filesystem?.fsId?.mountpoint;
      if (path === undefined || path === '') throw new NotFound({ message: 'the container runtime does not say where its images are' });
      return await host.filesystem(path, signal);
    },
  });
}
