import { defaultPullPolicy } from '#api/pod/image-reference.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import { Backoff, type BackoffSettings } from '#base/backoff.ts';
import { TaskGroup } from '#base/task-group.ts';
import { withGrpcStatus } from '#wire/cri/errors.ts';
import { type Image, ImageSpec } from '#wire/generated/cri.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { ImageReason, ImagesPort, MissingImage, ReadyImage } from '../../ports/images.ts';
import type { PodCounts } from '../../ports/pod-counts.ts';
import type { WakePort } from '../../ports/wake.ts';
import { fieldPathOf } from '../field-path.ts';
import { goDuration } from '../go-duration.ts';
import { refOf } from '../pod-ref.ts';
import { BadImageName, type ImageName, parseImageName } from './image-name.ts';
import { ImagePulls, type ImagePullsDeps, PullFailed, type PullSettings } from './image-pulls.ts';
import type { PullFailure } from './pull-failure.ts';
import { PullRecords, type VerificationPolicy } from './pull-records.ts';

export interface ImagePullerSettings extends PullSettings {
  readonly backoff: BackoffSettings;
  readonly verification: { readonly policy: VerificationPolicy; readonly allowlist: readonly string[] };
}

export interface ImagePullerDeps extends Omit<ImagePullsDeps, 'records' | 'settings'> {
  readonly files: FilesPort;
  /** The kubelet's root. */
  readonly roots: { readonly root: string };
  readonly runtimeHandlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
  readonly wake: WakePort;
  readonly counts?: PodCounts | undefined;
  readonly settings: ImagePullerSettings;
}

type Result = ReadyImage | MissingImage;

/** One container's wish for its image. */
interface Wish {
  readonly pod: Pod;
  /** As the pod has it: what people are told. */
  readonly image: string;
  readonly name: ImageName;
  readonly spec: ImageSpec;
  readonly policy: string;
  readonly tell: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
}

/** A result that was got ahead is used once, and only while the world is likely the same. */
const aheadValidMs = 60_000;
const neverRetryMs = 300_000;
/** So long a pod shows the error itself, then that it backs off; the next pull comes when the delay is over. */
const showErrorMs = 1000;

/** Gets images by the policy of their containers. */
export class ImagePuller implements ImagesPort {
  readonly records: PullRecords;
  readonly #deps: ImagePullerDeps;
  readonly #backoff: Backoff;
  readonly #pulls: ImagePulls;
  readonly #tasks = new TaskGroup(() => undefined); // every failure is part of a result
  /** By pod, image and policy. */
  readonly #ahead = new Map<string, { readonly result: Promise<Result>; readonly atMs: number }>();
  /** By pod and image. */
  readonly #failures = new Map<string, PullFailure & { readonly atMs: number }>();

  constructor(deps: ImagePullerDeps) {
    const { policy, allowlist } = deps.settings.verification;
    this.records = new PullRecords({ ...deps, directory: `${deps.roots.root}/image_manager`, policy, allowlist });
    this.#deps = deps;
    this.#backoff = new Backoff(deps.settings.backoff, deps.clock);
    this.#pulls = new ImagePulls({ ...deps, records: this.records });
  }

  ahead(pod: Pod, containers: readonly Container[]): void {
    for (const container of containers) {
      const key = aheadKeyOf(pod, container);
      if (this.#ahead.has(key)) continue;
      const isInit = pod.spec?.initContainers?.includes(container) === true;
      // Of the first container that has that image: the others find it present.
      const result = this.#get(pod, container, fieldPathOf(isInit ? 'init' : 'container', container.name), this.#tasks.signal);
      this.#ahead.set(key, { result, atMs: this.#deps.clock.now() });
      this.#tasks.run(key, async () => {
        await result;
      });
    }
  }

  async ensure(pod: Pod, container: Container, fieldPath: string, signal: AbortSignal): Promise<Result> {
    const key = aheadKeyOf(pod, container);
    const early = this.#ahead.get(key);
    this.#ahead.delete(key);
    if (early !== undefined && early.atMs + aheadValidMs > this.#deps.clock.now()) return untilAborted(early.result, signal);
    return untilAborted(this.#get(pod, container, fieldPath, signal), signal);
  }

  forget(podUid: string): void {
    for (const map of [this.#ahead, this.#failures]) for (const key of map.keys()) if (key.startsWith(`${podUid}/`)) map.delete(key);
    this.#pulls.leave(podUid);
  }

  /** Ends the pulls that run. */
  async close(): Promise<void> {
    await this.#tasks.close();
  }

  async #get(pod: Pod, container: Container, fieldPath: string, signal: AbortSignal): Promise<Result> {
    const image = container.image ?? '';
    const tell: Wish['tell'] = (type, reason, message) => this.#deps.events.emit(refOf(pod), { type, reason, message, fieldPath });
    const policy = container.imagePullPolicy ?? defaultPullPolicy(image);
    let name: ImageName;
    try {
      name = parseImageName(image);
    } catch (error) {
      if (!(error instanceof BadImageName)) throw error;
      this.#deps.metrics.ensured(policy, undefined, undefined);
      const message = `Failed to apply default image tag "${image}": ${error.message}`;
      tell('Warning', 'InspectFailed', message);
      return missing('InvalidImageName', message, neverRetryMs);
    }
    const wish: Wish = { pod, image, name, spec: await this.#specOf(pod, image, name, signal), policy, tell };
    return (policy === 'Always' ? undefined : await this.#present(wish, signal)) ?? (await this.#pullUnlessBackingOff(wish, signal));
  }

  /** @returns `undefined` when the image must be pulled */
  async #present({ pod, image, name, spec, policy, tell }: Wish, signal: AbortSignal): Promise<Result | undefined> {
    const { runtime, metrics, settings } = this.#deps;
    let found: Image | undefined;
    try {
      found = await runtime.imageStatus(spec, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      metrics.ensured(policy, undefined, undefined);
      const message = `Failed to inspect image "${image}": ${withGrpcStatus(error)}`;
      tell('Warning', 'InspectFailed', message);
      return missing('ImageInspectError', message, settings.backoff.baseMs);
    }
    const credentials = () => this.#pulls.credentialsOf(pod, name.repository, signal);
    if (found !== undefined && (await this.records.mayUse(spec.image, found.id, credentials, signal))) {
      metrics.ensured(policy, true, false);
      tell('Normal', 'Pulled', `Container image "${image}" already present on machine and can be accessed by the pod`);
      return ready(found.id, found);
    }
    metrics.ensured(policy, found !== undefined, policy !== 'Never');
    if (policy !== 'Never') return undefined;
    const message = `Container image "${image}" is not present with pull policy of Never`;
    tell('Warning', 'ErrImageNeverPull', message);
    return missing('ErrImageNeverPull', message, settings.backoff.baseMs);
  }

  async #pullUnlessBackingOff(wish: Wish, signal: AbortSignal): Promise<Result> {
    const { clock, metrics } = this.#deps;
    const { pod, image, policy, tell } = wish;
    if (policy === 'Always') metrics.ensured(policy, undefined, true);
    const key = `${pod.metadata.uid}/${image}`;
    const failure = this.#failures.get(key);
    const leftMs = failure === undefined ? 0 : this.#backoff.remainingMs(key, failure.atMs);
    if (failure === undefined || leftMs <= 0) return await this.#pull(wish, key, signal);
    const freshMs = failure.atMs + showErrorMs - clock.now();
    if (freshMs > 0) return missing(failure.reason, failure.message, Math.min(freshMs, leftMs));
    tell('Normal', 'BackOff', `Back-off pulling image "${image}"`);
    return missing('ImagePullBackOff', `Back-off pulling image "${image}": ${failure.reason}: ${failure.message}`, leftMs);
  }

  async #pull({ pod, image, name, spec, tell }: Wish, key: string, signal: AbortSignal): Promise<Result> {
    const { clock, wake, counts } = this.#deps;
    tell('Normal', 'Pulling', `Pulling image "${image}"`);
    const end = counts?.pulling(pod.metadata.uid);
    const askedAt = clock.monotonic();
    try {
      const { ref, image: facts, tookMs } = await this.#pulls.pull(pod, name, spec, this.#tasks.signal);
      this.#failures.delete(key);
      const waitedMs = clock.monotonic() - askedAt;
      // Who joined late waited for less than the whole pull.
      const times = `${goDuration(Math.min(tookMs, waitedMs))} (${goDuration(waitedMs)} including waiting)`;
      tell('Normal', 'Pulled', `Successfully pulled image "${image}" in ${times}. Image size: ${facts?.size ?? 0} bytes.`);
      wake.signal({ kind: 'image', ref: image });
      return ready(ref, facts);
    } catch (error) {
      if (signal.aborted || !(error instanceof PullFailed)) throw error;
      const { failure } = error;
      tell('Warning', 'Failed', `Failed to pull image "${image}": ${failure.text}`);
      const delayMs = this.#backoff.advance(key);
      this.#failures.set(key, { ...failure, atMs: clock.now() });
      return missing(failure.reason, failure.message, Math.min(showErrorMs, delayMs));
    } finally {
      end?.();
    }
  }

  async #specOf(pod: Pod, image: string, { tagged }: ImageName, signal: AbortSignal): Promise<ImageSpec> {
    const hasClass = (pod.spec?.runtimeClassName ?? '') !== '';
    // That the class is gone is for the sandbox to say.
    const runtimeHandler = hasClass ? await this.#deps.runtimeHandlerOf(pod, signal).catch(() => '') : '';
    return ImageSpec.create({ image: tagged, annotations: { ...pod.metadata.annotations }, userSpecifiedImage: image, runtimeHandler });
  }
}

function ready(ref: string, image: Image | undefined): ReadyImage {
  return { kind: 'ready', ref, uid: image?.uid?.value, username: image?.username ?? '' };
}

function missing(reason: ImageReason, message: string, retryInMs: number): MissingImage {
  return { kind: 'missing', reason, message, retryInMs };
}

function aheadKeyOf({ metadata: { uid } }: Pod, { image = '', imagePullPolicy = '' }: Container): string {
  return `${uid}/${imagePullPolicy}/${image}`;
}

/** The work goes on without us when the signal is aborted. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(reasonOf(signal)));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}
