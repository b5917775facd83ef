import type { Container, Pod } from '#api/types/core-v1.ts';

/** An init container that keeps running beside the others. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

export function sidecarsOf(pod: Pick<Pod, 'spec'>): readonly Container[] {
  return (pod.spec?.initContainers ?? []).filter(isSidecar);
}
