import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TokenBucket } from '#base/token-bucket.ts';
import type { Image, ImageSpec } from '#wire/generated/cri.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { type Credential, credentialsFor, credentialsOfSecrets } from './credentials.ts';
import type { DownloadFollower } from './follow-downloads.ts';
import type { ImageMetrics } from './image-metrics.ts';
import type { ImageName } from './image-name.ts';
import { type PullFailure, pullFailure } from './pull-failure.ts';
import { PullQueue } from './pull-queue.ts';
import type { PullRecords } from './pull-records.ts';
import { pullSecrets } from './pull-secrets.ts';
import { SharedPulls, type SharedWork } from './shared-pulls.ts';

export interface PullSettings {
  readonly maxParallelPulls: number;
  /** 0: no limit */
  readonly pullsPerSecond: number;
  readonly pullBurst: number;
}

/** What every pod of the node has for a registry beside its own secrets: the node's files, and plugins. Never fails. */
export type NodeCredentials = (pod: Pod, repository: string, signal: AbortSignal) => Promise<readonly Credential[]>;

export interface ImagePullsDeps {
  readonly runtime: RuntimePort;
  readonly objects: ObjectsPort;
  readonly events: EventsPort;
  readonly records: PullRecords;
  readonly nodeCredentials: NodeCredentials;
  readonly metrics: ImageMetrics;
  /** Says how far pulls have come; absent: nobody wants to know. */
  readonly downloads?: DownloadFollower | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: PullSettings;
}

export interface Pulled {
  /** What the runtime calls the image. */
  readonly ref: string;
  readonly image: Image | undefined;
  /** Without the wait for its turn. */
  readonly tookMs: number;
}

export class PullFailed extends AppError {
  readonly code = 'PULL_FAILED';
  readonly retry = 'backoff';
  readonly failure: PullFailure;

  constructor(failure: PullFailure) {
    super({ message: failure.text });
    this.failure = failure;
  }
}

/** Of clean-up that must not be cut short. */
const uncut = new AbortController().signal;

/** Pulls images: once for all pods that want the same with the same credentials, so many at a time. */
export class ImagePulls {
  readonly #deps: ImagePullsDeps;
  readonly #shared = new SharedPulls<Pulled>();
  readonly #queue: PullQueue;
  readonly #bucket: TokenBucket;

  constructor(deps: ImagePullsDeps) {
    const { maxParallelPulls, pullsPerSecond, pullBurst } = deps.settings;
    this.#deps = deps;
    this.#queue = new PullQueue(maxParallelPulls);
    this.#bucket = new TokenBucket(pullsPerSecond, pullBurst, deps.clock);
  }

  /** The pod's own come first. */
  async credentialsOf(pod: Pod, repository: string, signal: AbortSignal): Promise<readonly Credential[]> {
    const [secrets, ofNode] = await Promise.all([pullSecrets(pod, this.#deps, signal), this.#deps.nodeCredentials(pod, repository, signal)]);
    return [...credentialsFor(repository, credentialsOfSecrets(secrets)), ...ofNode];
  }

  /**
   * Joins a pull of the same that runs already.
   *
   * @param signal ends the pull for all; a pod that is gone is told by `leave`
   * @throws {PullFailed}, {Cancelled}
   */
  async pull(pod: Pod, name: ImageName, spec: ImageSpec, signal: AbortSignal): Promise<Pulled> {
    const credentials = await this.credentialsOf(pod, name.repository, signal);
    const key = JSON.stringify([spec.image, spec.runtimeHandler, credentials.map(({ auth }) => auth)]);
    const work: SharedWork<Pulled> = (inner, pods) => this.#queue.run(() => this.#pullNow(spec, credentials, pods, inner), inner);
    return await this.#shared.join(key, pod.metadata.uid, work, signal);
  }

  /** A pull that only this pod waits for is given up. */
  leave(podUid: string): void {
    this.#shared.leave(podUid);
  }

  async #pullNow(spec: ImageSpec, credentials: readonly Credential[], pods: ReadonlySet<string>, signal: AbortSignal): Promise<Pulled> {
    const { records, metrics, clock } = this.#deps;
    const startedAt = clock.monotonic();
    const fail = (...errors: readonly unknown[]) => new PullFailed(pullFailure(spec.userSpecifiedImage, errors));
    if (!this.#bucket.admits()) throw fail(new Error('pull QPS exceeded'));
    await this.#record(() => records.begin(spec.image, signal));
    const followed = this.#deps.downloads?.follow(spec.userSpecifiedImage, pods);
    let pulled: { readonly ref: string; readonly credential: Credential | undefined } | undefined;
    try {
      const result = await this.#tryEach(spec, credentials, signal);
      if ('errors' in result) throw fail(...result.errors);
      pulled = result;
    } finally {
      followed?.();
      const { ref, credential } = pulled ?? {};
      await this.#record(() => (ref === undefined ? records.failed(spec.image, uncut) : records.succeeded(spec.image, ref, credential, uncut)));
    }
    const tookMs = clock.monotonic() - startedAt;
    const image = await this.#deps.runtime.imageStatus(spec, signal);
    metrics.pulled(image?.size ?? 0, tookMs);
    return { ref: pulled.ref, image, tookMs };
  }

  async #tryEach(
    spec: ImageSpec,
    credentials: readonly Credential[],
    signal: AbortSignal,
  ): Promise<{ readonly ref: string; readonly credential: Credential | undefined } | { readonly errors: readonly unknown[] }> {
    const errors: unknown[] = [];
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      try {
        const ref = await this.#deps.runtime.pullImage(spec, credential?.auth, undefined, signal);
        if (ref !== '') return { ref, credential };
        errors.push(new Error(`imageRef of image ${JSON.stringify(spec.image)} is not set`));
      } catch (error) {
        if (signal.aborted) throw error;
        errors.push(error);
      }
    }
    return { errors };
  }

  /** A pull does not fail because its record does: without one the image's next user has it pulled once more. */
  async #record(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#deps.logger.warn('a pull is not recorded', { error: messageOf(error) });
    }
  }
}
