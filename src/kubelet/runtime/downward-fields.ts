import type { Pod } from '#api/types/core-v1.ts';

/**
 * A field of the pod as the downward API gives it to an environment variable.
 *
 * @returns `undefined` when the path is not one that may be asked for
 */
export function fieldValue(path: string, pod: Pod, podIPs: readonly string[], hostIPs: readonly string[]): string | undefined {
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  const key = keyed?.[2];
  if (keyed !== null && key !== undefined) return (keyed[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations)?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace;
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'spec.nodeName':
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return undefined;
  }
}
