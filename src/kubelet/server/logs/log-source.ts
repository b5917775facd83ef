import type { ContainerStatus, Pod } from '#api/types/core-v1.ts';

/** The container whose log is meant, or why there is none. */
export type LogSource =
  | { readonly kind: 'container'; readonly containerId: string }
  | { readonly kind: 'unknown-container'; readonly text: string }
  | { readonly kind: 'no-log'; readonly text: string };

export function logSource(pod: Pod, containerName: string, previous: boolean): LogSource {
  const podName = pod.metadata.name;
  if (!containerNames(pod).includes(containerName)) {
    return { kind: 'unknown-container', text: `container "${containerName}" not found in pod "${podName}"` };
  }
  const what = `container "${containerName}" in pod "${podName}"`;
  const status = statusOf(pod, containerName);
  if (status === undefined) return { kind: 'no-log', text: `${what} is not available` };
  const last = status.lastState?.terminated?.containerID;
  if (previous) return found(last) ?? { kind: 'no-log', text: `previous terminated ${what} not found` };
  const { running, terminated, waiting } = status.state ?? {};
  if (running !== undefined) return found(status.containerID) ?? { kind: 'no-log', text: `${what} is not available` };
  if (terminated !== undefined) return found(terminated.containerID) ?? found(last) ?? { kind: 'no-log', text: `${what} is terminated` };
  if (status.lastState?.terminated !== undefined) return found(last) ?? { kind: 'no-log', text: `${what} is terminated` };
  if (waiting === undefined) return { kind: 'no-log', text: `${what} is waiting to start - no logs yet` };
  return { kind: 'no-log', text: `${what} is waiting to start: ${imageProblems[waiting.reason ?? ''] ?? waiting.reason ?? ''}` };
}

const imageProblems: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

function containerNames(pod: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec ?? { containers: [] };
  return [...containers, ...initContainers, ...ephemeralContainers].map((container) => container.name);
}

function statusOf(pod: Pod, containerName: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find((status) => status.name === containerName);
}

/** @param containerId as in a status, `containerd://<id>` */
function found(containerId: string | undefined): LogSource | undefined {
  if (containerId === undefined || containerId === '') return undefined;
  return { kind: 'container', containerId: containerId.slice(containerId.indexOf('://') < 0 ? 0 : containerId.indexOf('://') + 3) };
}
