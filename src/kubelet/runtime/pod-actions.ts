import type { ProbeKind, ProbeResult } from '../ports/probes.ts';
import type { ContainerRecord } from './pod-runtime-state.ts';

export type ProbeVerdicts = (containerId: string, kind: ProbeKind) => ProbeResult | undefined;

export interface ContainerKill {
  readonly container: ContainerRecord;
  /** Text of the event. */
  readonly message: string;
  /** Whose probe failed: its own grace period counts. */
  readonly probe?: 'liveness' | 'startup' | undefined;
}

/** What has to happen so that the runtime has what the spec asks for. */
export interface PodActions {
  /** Stop every container and every sandbox first. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** An earlier sandbox of the pod is replaced. */
  readonly sandboxChanged: boolean;
  /** Attempt number of the sandbox to create, or of the one there is. */
  readonly attempt: number;
  /** The sandbox to go on with. */
  readonly sandboxId: string | undefined;
  readonly kill: readonly ContainerKill[];
  /** Names in the order of starting. */
  readonly startEphemeral: readonly string[];
  readonly startInit: readonly string[];
  readonly startContainers: readonly string[];
  /** A container ended in a way that asks for that: all stop and are removed, and the pod begins anew. */
  readonly restartAll?: boolean;
  /** Every init container has done its work (or started, if it is a sidecar). */
  readonly initialised: boolean;
}

/** True when the runtime already has all that the spec asks for. */
export function isSettled(actions: PodActions): boolean {
  return (
    !actions.killPod &&
    !actions.createSandbox &&
    actions.initialised &&
    actions.kill.length + actions.startEphemeral.length + actions.startInit.length + actions.startContainers.length === 0
  );
}
