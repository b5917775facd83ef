import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { type Image, ImageSpec } from '#wire/generated/cri.ts';
import type { ImageCleanerPort } from '../../ports/images.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import {
  binarySize,
  bytesToFree,
  type DiskUse,
  type ImageRecord,
  isTooOld,
  removalOrder,
  type SeenImage,
  updateRecords,
  usagePercent,
} from './image-garbage.ts';
import type { ImageMetrics } from './image-metrics.ts';
import type { PullRecords } from './pull-records.ts';

export interface ImageCleanerSettings {
  readonly highThresholdPercent: number;
  readonly lowThresholdPercent: number;
  readonly minimumAgeMs: number;
  /** 0: images go by space only. */
  readonly maximumAgeMs: number;
}

export interface ImageCleanerDeps {
  readonly runtime: Pick<RuntimePort, 'listImages' | 'listContainers' | 'removeImage'>;
  /** Images that containers mount as volumes. */
  readonly mounted: () => readonly string[];
  readonly diskUse: (signal: AbortSignal) => Promise<DiskUse>;
  readonly records: Pick<PullRecords, 'prune'>;
  readonly metrics: ImageMetrics;
  /** On the node. */
  readonly warn: (reason: string, message: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: ImageCleanerSettings;
}

/** Some images are still there; the message has upstream's words. */
export class ImagesNotRemoved extends AppError {
  readonly code = 'IMAGES_NOT_REMOVED';
  readonly retry = 'backoff';
}

/** Nothing more could be removed, and it is not enough. */
class NotEnoughSpace extends AppError {
  readonly code = 'NOT_ENOUGH_SPACE';
  readonly retry = 'backoff';
}

/** Keeps the images within the disk: removes those that no container has, by age and when space runs short. */
export class ImageCleaner implements ImageCleanerPort {
  readonly #deps: ImageCleanerDeps;
  readonly #startedAtMs: number;
  #records: ReadonlyMap<string, ImageRecord> = new Map();
  #hasLooked = false;
  #lastFailed = false;

  constructor(deps: ImageCleanerDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.clock.now();
  }

  /** One round, of those every five minutes. A failure is told on the node from the second in a row on. */
  async collect(signal: AbortSignal): Promise<void> {
    try {
      await this.#collect(signal);
      this.#lastFailed = false;
    } catch (error) {
      if (signal.aborted) throw error;
      if (this.#lastFailed) this.#deps.warn('ImageGCFailed', messageOf(error));
      this.#lastFailed = true;
      throw error;
    }
  }

  async deleteUnused(signal: AbortSignal): Promise<number> {
    const nowMs = await this.#look(signal);
    return await this.#remove(removalOrder(this.#records.values(), nowMs), { atLeastBytes: Number.POSITIVE_INFINITY, reason: 'space' }, signal);
  }

  async #collect(signal: AbortSignal): Promise<void> {
    const { settings, diskUse, warn, logger } = this.#deps;
    const nowMs = await this.#look(signal);
    if (settings.highThresholdPercent === 100 && settings.maximumAgeMs === 0) return;
    await this.#removeOld(nowMs, signal);
    const use = await diskUse(signal);
    if (use.capacityBytes === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      warn('InvalidDiskCapacity', message);
      throw new NotEnoughSpace({ message });
    }
    const wanted = bytesToFree(use, { high: settings.highThresholdPercent, low: settings.lowThresholdPercent });
    if (wanted === 0) return;
    logger.info('the disk of the images is used above the threshold', { percent: usagePercent(use), wantedBytes: wanted });
    // Younger ones may just have been pulled for a container that is about to be made.
    const old = removalOrder(this.#records.values(), nowMs).filter(({ firstDetectedMs }) => nowMs - firstDetectedMs >= settings.minimumAgeMs);
    const freed = await this.#remove(old, { atLeastBytes: wanted, reason: 'space' }, signal);
    if (freed >= wanted) return;
    const message =
      `Insufficient free disk space on the node's image filesystem (${usagePercent(use)}% of ${binarySize(use.capacityBytes)} used). ` +
      `Failed to free sufficient space by deleting unused images (freed ${freed} bytes). ` +
      'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';
    warn('FreeDiskSpaceFailed', message);
    throw new NotEnoughSpace({ message });
  }

  /** Only after the kubelet has run as long itself: it does not know what was used before. */
  async #removeOld(nowMs: number, signal: AbortSignal): Promise<void> {
    const { maximumAgeMs } = this.#deps.settings;
    if (maximumAgeMs === 0 || nowMs - this.#startedAtMs <= maximumAgeMs) return;
    const old = removalOrder(this.#records.values(), nowMs).filter((image) => isTooOld(image, maximumAgeMs, nowMs));
    await this.#remove(old, { atLeastBytes: Number.POSITIVE_INFINITY, reason: 'age' }, signal);
  }

  /** Brings the records up to date. @returns when */
  async #look(signal: AbortSignal): Promise<number> {
    const { runtime, clock, records, mounted } = this.#deps;
    const [images, containers] = await Promise.all([runtime.listImages(signal), runtime.listContainers({}, signal)]);
    const nowMs = clock.now();
    const used = new Set([...containers.flatMap(({ imageId, imageRef, image }) => [imageId, imageRef, image?.image ?? '']), ...mounted()]);
    const seen = images.map(
      (image): SeenImage => ({
        id: image.id,
        sizeBytes: image.size,
        isPinned: image.pinned || wasLoaded(image),
        isUsed: [image.id, ...image.repoDigests].some((name) => used.has(name)),
      }),
    );
    this.#records = updateRecords(this.#records, seen, this.#hasLooked ? nowMs : 0, nowMs);
    this.#hasLooked = true;
    await records.prune(new Set(this.#records.keys()), nowMs, signal);
    return nowMs;
  }

  /** @throws {ImagesNotRemoved} after every image was tried */
  async #remove(
    images: readonly ImageRecord[],
    { atLeastBytes, reason }: { readonly atLeastBytes: number; readonly reason: 'age' | 'space' },
    signal: AbortSignal,
  ): Promise<number> {
    const { runtime, metrics, logger } = this.#deps;
    const errors: string[] = [];
    let freed = 0;
    for (const { id, sizeBytes } of images) {
      if (freed >= atLeastBytes) break;
      try {
        await runtime.removeImage(ImageSpec.create({ image: id }), signal);
      } catch (error) {
        if (signal.aborted) throw error;
        errors.push(messageOf(error));
        continue;
      }
      freed += sizeBytes;
      metrics.collected(reason);
      logger.info('an unused image is removed', { image: id, bytes: sizeBytes, because: reason });
      this.#records = new Map([...this.#records].filter(([other]) => other !== id));
    }
    if (errors.length === 0) return freed;
    const wanted = Number.isFinite(atLeastBytes) ? `wanted to free ${atLeastBytes} bytes, but freed` : 'freed';
    const list = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
    throw new ImagesNotRemoved({ message: `${wanted} ${freed} bytes space with errors in image deletion: ${list}` });
  }
}

/** From an archive: no registry gave it, so none could give it back. Upstream removes these too, and pods that need them then never start again. */
function wasLoaded({ repoDigests }: Image): boolean {
  return repoDigests.length === 0;
}
