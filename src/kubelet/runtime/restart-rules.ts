import type { Container, Pod } from '#api/types/core-v1.ts';
import type { ContainerRecord } from './pod-runtime-state.ts';

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

export function restartsAfter(pod: Pod, container: Container, exitCode: number): boolean {
  const rule = container.restartPolicyRules?.find(({ exitCodes }) => {
    const listed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes?.operator === 'NotIn' ? !listed : listed;
  });
  if (rule !== undefined) return rule.action === 'Restart' || rule.action === 'RestartAllContainers';
  switch (container.restartPolicy ?? restartPolicyOf(pod)) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}
