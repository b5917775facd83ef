import type { Pod } from '#api/types/core-v1.ts';
import type { WakeKey } from '#startup/transition.ts';

/** A volume that containers may use now. */
export interface MountedVolume {
  /** The volume's name in the pod's spec. */
  readonly name: string;
  /** What a container's mount has as its source. */
  readonly hostPath: string;
  readonly readOnly: boolean;
  /** SELinux label wanted on it; false for host paths. */
  readonly relabel: boolean;
}

export type VolumesOutcome =
  | { readonly kind: 'mounted'; readonly volumes: ReadonlyMap<string, MountedVolume> }
  /** `detail` is upstream's event text; `reason` FailedMount or FailedAttachVolume. */
  | {
      readonly kind: 'wait';
      readonly reason: 'FailedMount' | 'FailedAttachVolume';
      readonly detail: string;
      readonly wakeOn: readonly WakeKey[];
      readonly atLatestMs: number;
    };

/** A part of a volume that a container mounts (`subPath`). */
export interface SubPath {
  readonly podUid: string;
  readonly containerName: string;
  /** Of the mount in the container's `volumeMounts`. */
  readonly index: number;
  readonly volume: MountedVolume;
  /** Relative and without `..`. */
  readonly relative: string;
}

/** The volume manager, as the pod's start sees it. */
export interface VolumesPort {
  /** Registers the pod's wish and makes it so: mounted at once where that is possible. Called on every sync; cheap when all is there. */
  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome>;
  /** What exists on the node for the pod, read from the world. */
  find(podUid: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Takes the wish back and unmounts everything of the pod; done when nothing is left. */
  release(podUid: string, signal: AbortSignal): Promise<void>;
  /**
   * Makes the part a mount of its own that its volume's writers cannot lead elsewhere; missing folders are made. Gone with `release`.
   *
   * @returns what the container's mount has as its source
   * @throws {PathEscapes} when it leads out of the volume
   */
  prepareSubPath(subPath: SubPath, signal: AbortSignal): Promise<string>;
}
