import { defaultPullPolicy } from '#api/pod/image-reference.ts';
import type { Container, Pod, Secret } from '#api/types/core-v1.ts';
import { onAbort, reasonOf } from '#base/abort.ts';
import { Backoff, type BackoffSettings } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { InvalidImageName, RuntimeError } from '#wire/cri/errors.ts';
import type { AuthConfig, Image, ImageSpec } from '#wire/generated/cri.ts';
import type { EventsPort } from '../../ports/events.ts';
import type { ImagesPort, MissingImage, ReadyImage } from '../../ports/images.ts';
import type { ObjectsPort } from '../../ports/objects.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { goDuration } from '../go-duration.ts';
import { refOf } from '../pod-ref.ts';
import { credentialsFor } from './credentials.ts';
import { withTag } from './image-name.ts';
import { PullQueue } from './pull-queue.ts';

export interface ImagePullerSettings {
  readonly backoff: BackoffSettings;
  readonly maxParallelPulls: number;
}

export interface ImagePullerDeps {
  readonly runtime: RuntimePort;
  readonly objects: ObjectsPort;
  readonly events: EventsPort;
  readonly clock: Clock;
  readonly settings: ImagePullerSettings;
}

type Result = ReadyImage | MissingImage;

/** A result that was got ahead is used once, and only while the world is likely the same. */
const aheadValidMs = 60_000;
const neverRetryMs = 300_000;
/** So long a pod shows the error itself, then that it backs off; the next pull comes when the delay is over. */
const showErrorMs = 1000;

/** Gets images by the policy of their containers. One pull serves everybody who waits for it. */
export class ImagePuller implements ImagesPort {
  readonly #deps: ImagePullerDeps;
  readonly #backoff: Backoff;
  readonly #queue: PullQueue;
  readonly #tasks = new TaskGroup(() => undefined); // every failure is part of a result
  /** By pod and image. */
  readonly #ahead = new Map<string, { readonly result: Promise<Result>; readonly atMs: number }>();
  /** By image and credentials. */
  readonly #pulls = new Map<string, Promise<string>>();
  readonly #failures = new Map<string, { readonly atMs: number; readonly message: string }>();

  constructor(deps: ImagePullerDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(deps.settings.backoff, deps.clock);
    this.#queue = new PullQueue(deps.settings.maxParallelPulls);
  }

  ahead(pod: Pod, containers: readonly Container[]): void {
    for (const container of containers) {
      const key = keyOf(pod, container);
      if (this.#ahead.has(key)) continue;
      const result = this.#get(pod, container, fieldPathOf(pod, container), this.#tasks.signal);
      this.#ahead.set(key, { result, atMs: this.#deps.clock.now() });
      this.#tasks.run(key, async () => {
        await result;
      });
    }
  }

  async ensure(pod: Pod, container: Container, fieldPath: string, signal: AbortSignal): Promise<Result> {
    const key = keyOf(pod, container);
    const early = this.#ahead.get(key);
    this.#ahead.delete(key);
    if (early !== undefined && early.atMs + aheadValidMs > this.#deps.clock.now()) return untilAborted(early.result, signal);
    return untilAborted(this.#get(pod, container, fieldPath, signal), signal);
  }

  forget(podUid: string): void {
    for (const map of [this.#ahead, this.#failures]) for (const key of map.keys()) if (key.startsWith(`${podUid}/`)) map.delete(key);
  }

  /** Ends the pulls that run. */
  async close(): Promise<void> {
    await this.#tasks.close();
  }

  async #get(pod: Pod, container: Container, fieldPath: string, signal: AbortSignal): Promise<Result> {
    const { runtime, events } = this.#deps;
    const image = container.image ?? '';
    const tell = (type: 'Normal' | 'Warning', reason: string, message: string) => events.emit(refOf(pod), { type, reason, message, fieldPath });
    const spec = this.#specOf(pod, image);
    const policy = container.imagePullPolicy ?? defaultPullPolicy(image);
    let present: Image | undefined;
    try {
      present = await runtime.imageStatus(spec, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const message = `Failed to inspect image "${image}": ${messageOf(error)}`;
      tell('Warning', 'InspectFailed', message);
      const invalid = error instanceof InvalidImageName;
      return {
        kind: 'missing',
        reason: invalid ? 'InvalidImageName' : 'ImageInspectError',
        message,
        retryInMs: invalid ? neverRetryMs : this.#deps.settings.backoff.baseMs,
      };
    }
    if (present !== undefined && policy !== 'Always') {
      tell('Normal', 'Pulled', `Container image "${image}" already present on machine`);
      return ready(present.id, present);
    }
    if (policy === 'Never') {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      tell('Warning', 'ErrImageNeverPull', message);
      return { kind: 'missing', reason: 'ErrImageNeverPull', message, retryInMs: this.#deps.settings.backoff.baseMs };
    }
    return this.#pullUnlessBackingOff(pod, container, spec, tell, signal);
  }

  async #pullUnlessBackingOff(
    pod: Pod,
    container: Container,
    spec: ImageSpec,
    tell: (type: 'Normal' | 'Warning', reason: string, message: string) => void,
    signal: AbortSignal,
  ): Promise<Result> {
    const { clock } = this.#deps;
    const image = container.image ?? '';
    const key = keyOf(pod, container);
    const failure = this.#failures.get(key);
    const leftMs = failure === undefined ? 0 : this.#backoff.remainingMs(key, failure.atMs);
    if (failure !== undefined && leftMs > 0) {
      const freshMs = failure.atMs + showErrorMs - clock.now();
      if (freshMs > 0) return { kind: 'missing', reason: 'ErrImagePull', message: failure.message, retryInMs: Math.min(freshMs, leftMs) };
      tell('Normal', 'BackOff', `Back-off pulling image "${image}"`);
      return {
        kind: 'missing',
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image "${image}": ErrImagePull: ${failure.message}`,
        retryInMs: leftMs,
      };
    }
    tell('Normal', 'Pulling', `Pulling image "${image}"`);
    const askedAt = clock.monotonic();
    try {
      const { ref, tookMs } = await this.#pull(pod, spec);
      this.#failures.delete(key);
      const facts = await this.#deps.runtime.imageStatus(spec, signal);
      const times = `${goDuration(tookMs)} (${goDuration(clock.monotonic() - askedAt)} including waiting)`;
      tell('Normal', 'Pulled', `Successfully pulled image "${image}" in ${times}. Image size: ${facts?.size ?? 0} bytes.`);
      return ready(ref, facts);
    } catch (error) {
      if (signal.aborted || this.#tasks.signal.aborted) throw error;
      const message = error instanceof RuntimeError ? error.details : messageOf(error);
      tell('Warning', 'Failed', `Failed to pull image "${image}": ${message}`);
      const delayMs = this.#backoff.advance(key);
      this.#failures.set(key, { atMs: clock.now(), message });
      return { kind: 'missing', reason: 'ErrImagePull', message, retryInMs: Math.min(showErrorMs, delayMs) };
    }
  }

  /** Tries the pod's credentials one after another, or none; the pull outlives those who wait for it. */
  async #pull(pod: Pod, spec: ImageSpec): Promise<{ readonly ref: string; readonly tookMs: number }> {
    const { clock, runtime } = this.#deps;
    const signal = this.#tasks.signal;
    const credentials: readonly (AuthConfig | undefined)[] = credentialsFor(spec.image, await this.#pullSecrets(pod, signal));
    let startedAt = clock.monotonic();
    let lastError: unknown;
    for (const auth of credentials.length === 0 ? [undefined] : credentials) {
      const key = `${spec.image} ${JSON.stringify(auth)}`;
      const running =
        this.#pulls.get(key) ??
        this.#queue.run(() => {
          startedAt = clock.monotonic();
          return runtime.pullImage(spec, auth, undefined, signal);
        });
      this.#pulls.set(key, running);
      try {
        return { ref: await running, tookMs: clock.monotonic() - startedAt };
      } catch (error) {
        lastError = error;
      } finally {
        this.#pulls.delete(key);
      }
    }
    throw lastError;
  }

  async #pullSecrets(pod: Pod, signal: AbortSignal): Promise<readonly Secret[]> {
    // A name may be empty: charts write it so for none.
    const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name = '' }) => (name === '' ? [] : [name]));
    const found = await Promise.all(
      names.map(async (name) => {
        try {
          return { name, secret: await this.#deps.objects.secret(pod.metadata.namespace, name, signal) };
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return { name, secret: undefined }; // the pull goes on without it, as the event says
        }
      }),
    );
    const missing = found.filter(({ secret }) => secret === undefined).map(({ name }) => name);
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
      this.#deps.events.emit(refOf(pod), { type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message });
    }
    return found.flatMap(({ secret }) => (secret === undefined ? [] : [secret]));
  }

  #specOf(pod: Pod, image: string): ImageSpec {
    return { image: withTag(image), annotations: { ...pod.metadata.annotations }, userSpecifiedImage: image, runtimeHandler: '', imageRef: '' };
  }
}

function ready(ref: string, image: Image | undefined): ReadyImage {
  return { kind: 'ready', ref, uid: image?.uid?.value, username: image?.username ?? '' };
}

function keyOf(pod: Pod, container: Container): string {
  return `${pod.metadata.uid}/${container.image ?? ''}`;
}

/** Of the first container that has that image: the others find it present. */
function fieldPathOf(pod: Pod, container: Container): string {
  const isInit = pod.spec?.initContainers?.includes(container) === true;
  return `spec.${isInit ? 'initContainers' : 'containers'}{${container.name}}`;
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
