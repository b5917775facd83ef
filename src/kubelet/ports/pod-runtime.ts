import type { Container, Pod } from '#api/types/core-v1.ts';
import type { Watchable } from '#base/watchable.ts';
import type { WakeKey } from '#startup/transition.ts';
import type { PodRef, StopRequest } from '../pod-start/step.ts';
import type { ContainerKill } from '../runtime/pod-actions.ts';
import type { PodRuntimeState } from '../runtime/pod-runtime-state.ts';
import type { NetworkState } from './node-facts.ts';
import type { MountedVolume } from './volumes.ts';

export type ContainerKind = 'container' | 'init' | 'ephemeral';

export interface StartRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly kind: ContainerKind;
  readonly sandboxId: string;
  readonly cgroupParent: string;
  readonly podIPs: readonly string[];
  readonly volumes: ReadonlyMap<string, MountedVolume>;
}

/** Why a container does not run; upstream's words for the waiting state. */
export const startReasons = [
  'CrashLoopBackOff',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PostStartHookError',
] as const;
export type StartReason = (typeof startReasons)[number];

export type StartResult =
  | { readonly kind: 'started'; readonly containerId: string }
  | {
      readonly kind: 'blocked';
      readonly reason: StartReason;
      readonly message: string;
      readonly wakeOn: readonly WakeKey[];
      readonly retryInMs: number;
    };

/** A container that could not be started. */
export type BlockedStart = Extract<StartResult, { kind: 'blocked' }> & { readonly container: string };

export type SandboxResult =
  | { readonly kind: 'ready'; readonly sandboxId: string }
  /** An earlier request for the same name has not ended in the runtime. */
  | { readonly kind: 'reserved' };

/** The container runtime as the start of a pod uses it: whole deeds, in the kubelet's words. */
export interface PodRuntimePort {
  readonly network: Watchable<NetworkState>;
  /** The pod as it is now, asked from the runtime itself. */
  read(pod: PodRef, signal: AbortSignal): Promise<PodRuntimeState>;
  /**
   * Makes the pod's sandbox, or takes the ready one that an interrupted request left. Not cut short by the signal: half a sandbox helps nobody.
   *
   * @throws {CniFailed} and other runtime errors, {BadHostname}
   */
  createSandbox(pod: Pod, attempt: number, cgroupParent: string, signal: AbortSignal): Promise<SandboxResult>;
  /** @returns none when the sandbox is gone or the runtime says nothing of a network */
  sandboxIps(sandboxId: string, signal: AbortSignal): Promise<readonly string[]>;
  /** One container: image, configuration, create, start, post-start. Its failure is a result, not an error. */
  startContainer(request: StartRequest, signal: AbortSignal): Promise<StartResult>;
  /** Stops one container that must not go on, with its hooks and grace. */
  killContainer(pod: Pod, kill: ContainerKill, signal: AbortSignal): Promise<void>;
  /** The pod's end: stops all its containers, sidecars last. Their records stay. */
  killPod(pod: PodRef, stop: StopRequest, signal: AbortSignal): Promise<void>;
  stopSandboxes(pod: PodRef, signal: AbortSignal): Promise<void>;
  /**
   * Stops everything of a pod that goes on: its containers with their own grace, then its sandboxes. For a new sandbox the init containers
   * will run again, so their records are removed. For a restart the sandbox goes on, and all records are removed.
   */
  stopAll(pod: Pod, because: 'new-sandbox' | 'end' | 'restart', signal: AbortSignal): Promise<void>;
  /** Removes sandboxes, containers and their logs; all must be stopped. */
  removeAll(pod: PodRef, signal: AbortSignal): Promise<void>;
}
