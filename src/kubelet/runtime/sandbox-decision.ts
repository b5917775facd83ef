import type { Pod } from '#api/types/core-v1.ts';
import type { PodRuntimeState } from './pod-runtime-state.ts';

export interface SandboxDecision {
  readonly create: boolean;
  readonly attempt: number;
  /** The sandbox to keep, or the one that is replaced. */
  readonly sandboxId: string | undefined;
}

/** Whether the pod needs another sandbox, and which attempt that is. */
export function decideSandbox(pod: Pod, observed: PodRuntimeState): SandboxDecision {
  const [newest] = observed.sandboxes;
  if (newest === undefined) return { create: true, attempt: 0, sandboxId: undefined };
  const attempt = Math.max(...observed.sandboxes.map((sandbox) => sandbox.attempt));
  const replace = { create: true, attempt: attempt + 1, sandboxId: newest.id };
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready).length;
  if (ready > 1 || !newest.ready) return replace;
  const hostNetwork = pod.spec?.hostNetwork === true;
  if (newest.hostNetwork !== hostNetwork) return { ...replace, sandboxId: undefined };
  if (!hostNetwork && newest.ips !== undefined && newest.ips.length === 0) return replace;
  return { create: false, attempt, sandboxId: newest.id };
}
