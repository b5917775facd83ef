import type { Container, ContainerRestartRule, Pod } from '#api/types/core-v1.ts';
import { type ContainerRecord, newestOf, type PodRuntimeState } from './pod-runtime-state.ts';

export function restartPolicyOf(pod: Pod): string {
  return pod.spec?.restartPolicy ?? 'Always';
}

/** Whether a container that is not running shall run again, by its own rules or else by the pod's policy. */
export function shouldRestart(pod: Pod, container: Container, status: ContainerRecord | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (status === undefined || status.phase === 'created' || status.phase === 'unknown') return true;
  if (status.phase === 'running') return false;
  return restartsAfter(pod, container, status.exitCode);
}

/** By its own rules or else by its own policy, or else by the pod's. */
export function restartsAfter(pod: Pod, container: Container, exitCode: number): boolean {
  if (ruleFor(container, exitCode) !== undefined) return true; // every action there is restarts it, alone or with the others
  switch (container.restartPolicy ?? restartPolicyOf(pod)) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}

/** Whether the end of one of its containers may ask for a restart of all. */
export function mayRestartAll(pod: Pod): boolean {
  return containersOf(pod).some(({ restartPolicyRules = [] }) => restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'));
}

/** A container whose end asks for a restart of all, itself included; `undefined`: there is none. */
export function triggerOfRestartAll(pod: Pod, observed: PodRuntimeState): ContainerRecord | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || !mayRestartAll(pod)) return undefined;
  for (const container of containersOf(pod)) {
    const newest = newestOf(observed, container.name);
    if (newest?.phase === 'exited' && ruleFor(container, newest.exitCode)?.action === 'RestartAllContainers') return newest;
  }
  return undefined;
}

/**
 * Whether all containers are just being restarted: one asks for it, or records are gone that the pod is not to end without.
 *
 * @param hasRun whether the container of that name was told to have run
 */
export function isRestartingAll(pod: Pod, observed: PodRuntimeState, hasRun: (name: string) => boolean): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || !mayRestartAll(pod)) return false;
  if (triggerOfRestartAll(pod, observed) !== undefined) return true;
  return containersOf(pod).some(({ name }) => newestOf(observed, name) === undefined && hasRun(name));
}

/** The first rule that matches counts. */
function ruleFor(container: Container, exitCode: number): ContainerRestartRule | undefined {
  return container.restartPolicyRules?.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes?.operator === 'NotIn' ? !isListed : isListed;
  });
}

function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}
