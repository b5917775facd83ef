import type { Container, Pod } from '#api/types/core-v1.ts';
import { type ContainerConfig, type LinuxContainerResources, type LinuxContainerSecurityContext, type Mount, Signal } from '#wire/generated/cri.ts';
import type { ContainerAllocation } from '../ports/allocations.ts';
import { sizeOf } from '../resources/resize/sizes.ts';
import { containerHash } from './container-hash.ts';
import { plainMount } from './container-mounts.ts';
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
  /** What device plugins and the managers of CPUs and memory gave it. */
  readonly allocation?: ContainerAllocation | undefined;
}

/** What `CreateContainer` is asked for. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, env, restartCount, allocation } = input;
  const expanded = (words: readonly string[] | undefined) => (words ?? []).map((word) => expand(word, (name) => env.get(name)));
  const stopSignal = Object.entries(Signal).find(([name]) => name === container.lifecycle?.stopSignal)?.[1];
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: input.imageRef, annotations: {}, userSpecifiedImage: container.image ?? '', runtimeHandler: '', imageRef: '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...Object.entries(allocation?.envs ?? {}), ...env].map(([key, value]) => ({ key, value: new TextEncoder().encode(value) })),
    mounts: [...input.mounts, ...(allocation?.mounts ?? []).map(mountOfPlugin)],
    devices: (allocation?.devices ?? []).map((device) => ({ ...device })),
    labels: containerLabels(pod, container),
    annotations: { ...allocation?.annotations, ...containerAnnotations(pod, container, restartCount) },
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: { resources: pinned(input.resources, allocation), securityContext: input.security },
    windows: undefined,
    CDIDevices: (allocation?.cdiDevices ?? []).map((name) => ({ name })),
    stopSignal: stopSignal ?? 0,
  };
}

function mountOfPlugin({ containerPath, hostPath, readOnly }: ContainerAllocation['mounts'][number]): Mount {
  return { ...plainMount(containerPath, hostPath), readonly: readOnly };
}

function pinned(resources: LinuxContainerResources, allocation: ContainerAllocation | undefined): LinuxContainerResources {
  if (allocation?.cpus === undefined && allocation?.memoryNodes === undefined) return resources;
  return { ...resources, cpusetCpus: allocation.cpus ?? resources.cpusetCpus, cpusetMems: allocation.memoryNodes ?? resources.cpusetMems };
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
