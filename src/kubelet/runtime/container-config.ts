import type { Container, Pod } from '#api/types/core-v1.ts';
import { type ContainerConfig, type LinuxContainerResources, type LinuxContainerSecurityContext, type Mount, Signal } from '#wire/generated/cri.ts';
import { sizeOf } from '../resources/resize/sizes.ts';
import { containerHash } from './container-hash.ts';
import { expand } from './expansion.ts';
import { annotation, label } from './labels.ts';

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly restartCount: number;
  /** What the runtime calls the image. */
  readonly imageRef: string;
  readonly env: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly resources: LinuxContainerResources;
  readonly security: LinuxContainerSecurityContext;
}

/** What `CreateContainer` is asked for. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, env, restartCount } = input;
  const expanded = (words: readonly string[] | undefined) => (words ?? []).map((word) => expand(word, (name) => env.get(name)));
  const stopSignal = Object.entries(Signal).find(([name]) => name === container.lifecycle?.stopSignal)?.[1];
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: input.imageRef, annotations: {}, userSpecifiedImage: container.image ?? '', runtimeHandler: '', imageRef: '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...env].map(([key, value]) => ({ key, value: new TextEncoder().encode(value) })),
    mounts: [...input.mounts],
    devices: [],
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: { resources: input.resources, securityContext: input.security },
    windows: undefined,
    CDIDevices: [],
    stopSignal: stopSignal ?? 0,
  };
}

function containerLabels(pod: Pod, container: Container): Record<string, string> {
  return {
    [label.containerName]: container.name,
    [label.podName]: pod.metadata.name,
    [label.podNamespace]: pod.metadata.namespace,
    [label.podUid]: pod.metadata.uid,
  };
}

/** What a restarted kubelet must still know of the container, even when the pod's object is gone. */
function containerAnnotations(pod: Pod, container: Container, restartCount: number): Record<string, string> {
  const grace = pod.spec?.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  return {
    [annotation.hash]: containerHash(container),
    [annotation.size]: JSON.stringify(sizeOf(container.resources)),
    [annotation.restartCount]: String(restartCount),
    [annotation.terminationMessagePath]: container.terminationMessagePath ?? '',
    [annotation.terminationMessagePolicy]: container.terminationMessagePolicy ?? '',
    ...(grace === undefined ? {} : { [annotation.podTerminationGracePeriod]: String(grace) }),
    ...(preStop === undefined ? {} : { [annotation.preStopHandler]: JSON.stringify(preStop) }),
    ...((container.ports ?? []).length === 0 ? {} : { [annotation.ports]: JSON.stringify(container.ports) }),
  };
}
