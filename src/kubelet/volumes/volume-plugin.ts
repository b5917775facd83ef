import type { Pod, Volume } from '#api/types/core-v1.ts';
import { AppError, type AppErrorInit } from '#base/errors.ts';
import type { ObjectRefKey } from '../ports/objects.ts';

/** What a plugin made ready. */
export interface VolumeSetUp {
  readonly hostPath: string;
  readonly readOnly: boolean;
  /** SELinux label wanted on it. */
  readonly relabel: boolean;
  /** Epoch: from here on the content is out of date. */
  readonly refreshAtMs?: number | undefined;
}

/** One type of volume. Everything may be called again, also after a crash at any line. */
export interface VolumePlugin {
  /** Upstream's name, as in the folder below `volumes/`: `kubernetes.io~empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /** Objects whose change means new content. */
  refs(volume: Volume, namespace: string): readonly ObjectRefKey[];
  /** Whether labels or annotations of the pod are content. */
  readsPod(volume: Volume): boolean;
  /** Asks ahead for what `setUp` will need; its failure is `setUp`'s to tell. */
  prepare?(volume: Volume, pod: Pod, signal: AbortSignal): Promise<unknown>;
  /** Makes the volume usable, or brings its content up to date. @throws {VolumeSetUpFailed} with upstream's text */
  setUp(volume: Volume, pod: Pod, signal: AbortSignal): Promise<VolumeSetUp>;
  /** Takes away what `reconstruct` saw. */
  tearDown(podUid: string, volumeName: string, signal: AbortSignal): Promise<void>;
  /** Names of the pod's volumes of this type that exist on the node, read from the world. */
  reconstruct(podUid: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** A volume cannot be made ready as things are. */
export class VolumeSetUpFailed extends AppError {
  readonly code = 'VOLUME_SET_UP_FAILED';
  readonly retry = 'backoff';
  /** Objects whose coming or change may mend it. */
  readonly wakeOn: readonly ObjectRefKey[];

  constructor(init: AppErrorInit & { readonly wakeOn?: readonly ObjectRefKey[] }) {
    super(init);
    this.wakeOn = init.wakeOn ?? [];
  }
}

/** Something is in a volume's folder that is not ours to remove; the message has upstream's words. */
export class VolumeStays extends AppError {
  readonly code = 'VOLUME_STAYS';
  readonly retry = 'backoff';
}
