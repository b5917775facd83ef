import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../../ports/files.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import type { Credential } from './credentials.ts';
import { parseImageName } from './image-name.ts';
import { type Grants, grantOf, grantsAccess, type ImagePulledRecord, type ImagePullIntent, mergeGrant, newRecord } from './pull-record.ts';

export type VerificationPolicy = 'NeverVerify' | 'NeverVerifyPreloadedImages' | 'NeverVerifyAllowlistedImages' | 'AlwaysVerify';

export interface PullRecordsDeps {
  readonly files: FilesPort;
  readonly runtime: Pick<RuntimePort, 'listImages'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `<kubelet root>/image_manager` */
  readonly directory: string;
  readonly policy: VerificationPolicy;
  /** Names without tag; one that ends with `/*` stands for all below. */
  readonly allowlist: readonly string[];
}

const fileMode = 0o600;

/**
 * Who showed which credentials for the images on the node: a pod that did not must not use a private image only because another pod had it
 * pulled. Kept on disk, for the images outlive the kubelet.
 */
export class PullRecords {
  readonly #deps: PullRecordsDeps;
  /** By the runtime's id of the image. */
  readonly #records = new Map<string, ImagePulledRecord>();
  /** Pulls under way by image; an image whose pull was cut short is ours too, but nobody has shown credentials for it. */
  readonly #intents = new Map<string, number>();
  #loaded: Promise<void> | undefined;

  constructor(deps: PullRecordsDeps) {
    this.#deps = deps;
  }

  /** Whether a pod may use an image that is there. @param credentials what the pod has for it; asked for only when that decides */
  async mayUse(image: string, imageId: string, credentials: () => Promise<readonly Credential[]>, signal: AbortSignal): Promise<boolean> {
    if (this.#deps.policy === 'NeverVerify') return true;
    await this.#load(signal);
    const record = this.#records.get(imageId);
    const isPulledByUs = record !== undefined || this.#intents.has(image);
    const { repository } = parseImageName(image);
    if (!this.#mustVerify(repository, isPulledByUs)) return true;
    const grants = record?.credentialMapping[repository];
    if (grants === undefined) return false;
    if (grants.nodePodsAccessible === true) return true;
    const shown = (await credentials()).find((credential) => grantsAccess(grants, credential));
    if (shown === undefined) return false;
    await this.#grant(imageId, repository, grantOf(shown), signal); // the next time is quicker, and a changed secret is remembered
    return true;
  }

  /** A pull begins. */
  async begin(image: string, signal: AbortSignal): Promise<void> {
    await this.#load(signal);
    const running = this.#intents.get(image) ?? 0;
    this.#intents.set(image, running + 1);
    if (running > 0) return;
    const intent: ImagePullIntent = { kind: 'ImagePullIntent', apiVersion: 'kubelet.config.k8s.io/v1beta1', image };
    await this.#write(this.#intentFile(image), intent, signal);
  }

  /** @param credential the one that the registry took; none: it asked for none */
  async succeeded(image: string, imageId: string, credential: Credential | undefined, signal: AbortSignal): Promise<void> {
    await this.#grant(imageId, parseImageName(image).repository, grantOf(credential), signal);
    await this.#end(image, signal);
  }

  async failed(image: string, signal: AbortSignal): Promise<void> {
    await this.#end(image, signal);
  }

  /** Forgets images that are gone. @param untilMs younger records stay: their image may not be on the list yet */
  async prune(imageIds: ReadonlySet<string>, untilMs: number, signal: AbortSignal): Promise<void> {
    await this.#load(signal);
    const gone = [...this.#records.values()].filter(
      ({ imageRef, lastUpdatedTime }) => !imageIds.has(imageRef) && Date.parse(lastUpdatedTime) < untilMs,
    );
    for (const { imageRef } of gone) {
      await this.#deps.files.removeTree(this.#recordFile(imageRef), signal);
      this.#records.delete(imageRef);
    }
  }

  #mustVerify(repository: string, isPulledByUs: boolean): boolean {
    const { policy, allowlist } = this.#deps;
    switch (policy) {
      case 'NeverVerify':
        return false;
      case 'NeverVerifyPreloadedImages':
        return isPulledByUs;
      case 'NeverVerifyAllowlistedImages':
        return !allowlist.some((name) => (name.endsWith('/*') ? repository.startsWith(name.slice(0, -1)) : repository === name));
      case 'AlwaysVerify':
        return true;
    }
  }

  async #grant(imageId: string, repository: string, grant: Grants | undefined, signal: AbortSignal): Promise<void> {
    const now = new Date(this.#deps.clock.now()).toISOString();
    const known = this.#records.get(imageId);
    const next = mergeGrant(known ?? newRecord(imageId, now), repository, grant, now);
    if (next === known) return;
    this.#records.set(imageId, next);
    await this.#write(this.#recordFile(imageId), next, signal);
  }

  async #end(image: string, signal: AbortSignal): Promise<void> {
    const running = this.#intents.get(image) ?? 0;
    if (running > 1) {
      this.#intents.set(image, running - 1);
      return;
    }
    this.#intents.delete(image);
    await this.#deps.files.removeTree(this.#intentFile(image), signal);
  }

  #load(signal: AbortSignal): Promise<void> {
    this.#loaded ??= this.#read(signal).catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const [records, intents] = await Promise.all([
      this.#readAll<ImagePulledRecord>('pulled', signal),
      this.#readAll<ImagePullIntent>('pulling', signal),
    ]);
    for (const record of records) this.#records.set(record.imageRef, record);
    if (intents.length === 0) return;
    // The kubelet ended during these pulls. What came through all the same is ours, but nobody is known to have access.
    const images = await this.#deps.runtime.listImages(signal);
    for (const { image } of intents) {
      const { repository } = parseImageName(image);
      const names = (all: readonly string[]) => all.some((name) => name === image || name.startsWith(`${repository}:`));
      for (const { id } of images.filter(({ repoTags, repoDigests }) => names(repoTags) || repoDigests.includes(image)))
        await this.#grant(id, repository, undefined, signal);
      await this.#deps.files.removeTree(this.#intentFile(image), signal);
    }
  }

  /** A file that cannot be read counts as none: the image is then pulled once more. */
  async #readAll<T>(folder: 'pulled' | 'pulling', signal: AbortSignal): Promise<readonly T[]> {
    const { files, directory, logger } = this.#deps;
    const entries = (await files.list(`${directory}/${folder}`, signal)).filter(({ name }) => name.startsWith('sha256-'));
    const read = await Promise.all(
      entries.map(async ({ name }): Promise<readonly T[]> => {
        try {
          return [JSON.parse(new TextDecoder().decode(await files.read(`${directory}/${folder}/${name}`, signal))) as T]; // our own file
        } catch (error) {
          logger.warn('a record of a pull cannot be read', { file: `${folder}/${name}`, error: messageOf(error) });
          return [];
        }
      }),
    );
    return read.flat();
  }

  async #write(file: string, content: object, signal: AbortSignal): Promise<void> {
    const folder = file.slice(0, file.lastIndexOf('/'));
    await this.#deps.files.ensureDirectory(folder, 0o700, signal);
    await this.#deps.files.write(file, JSON.stringify(content), fileMode, signal);
  }

  #recordFile(imageId: string): string {
    return `${this.#deps.directory}/pulled/${fileName(imageId)}`;
  }

  #intentFile(image: string): string {
    return `${this.#deps.directory}/pulling/${fileName(image)}`;
  }
}

/** Upstream's. */
function fileName(name: string): string {
  return `sha256-${createHash('sha256').update(name).digest('hex')}`;
}
