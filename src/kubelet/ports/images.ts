import type { Container, Pod } from '#api/types/core-v1.ts';

/** An image that containers can be made of. */
export interface ReadyImage {
  readonly kind: 'ready';
  /** What the runtime calls it. */
  readonly ref: string;
  /** The user that the image asks for; neither: root. */
  readonly uid: number | undefined;
  readonly username: string;
}

export type ImageReason =
  | 'ErrImagePull'
  | 'ImagePullBackOff'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'ImageInspectError'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed';

export interface MissingImage {
  readonly kind: 'missing';
  readonly reason: ImageReason;
  /** Upstream's text for the waiting container. */
  readonly message: string;
  /** When asking again makes sense. */
  readonly retryInMs: number;
}

/** Images on the node. Events of pulls are told by the port itself. */
export interface ImagesPort {
  /** Starts to get the images of these containers, each once; never waits and never fails. */
  ahead(pod: Pod, containers: readonly Container[]): void;
  /** Joins a pull that runs already. @throws {Cancelled} only */
  ensure(pod: Pod, container: Container, fieldPath: string, signal: AbortSignal): Promise<ReadyImage | MissingImage>;
  /** The pod is gone: what was got ahead for it is forgotten. */
  forget(podUid: string): void;
}

/** Frees the file system that holds the images. */
export interface ImageCleanerPort {
  /**
   * Removes every image that no container has and that is not pinned, however young.
   *
   * @returns the bytes that their sizes add up to
   * @throws {ImagesNotRemoved} after all were tried; {Unavailable} when the runtime does not answer
   */
  deleteUnused(signal: AbortSignal): Promise<number>;
}
