import type { ContainerKind } from '../ports/pod-runtime.ts';

/** How events name a container of a pod. */
export function fieldPathOf(kind: ContainerKind, name: string): string {
  switch (kind) {
    case 'init':
      return `spec.initContainers{${name}}`;
    case 'ephemeral':
      return `spec.ephemeralContainers{${name}}`;
    case 'container':
      return `spec.containers{${name}}`;
  }
}
