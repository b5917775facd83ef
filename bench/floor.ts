import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import type { Pod } from '#api/types/core-v1.ts';
import { systemClock } from '#base/clock.ts';
import { ContainerConfig, ContainerState, PodSandboxConfig, RuntimeServiceDefinition as service } from '#wire/generated/cri.ts';
import { type GrpcChannel, openChannel } from '#wire/grpc/channel.ts';
import { fromGoJson } from './go-json.ts';

const never = new AbortController().signal;
setMaxListeners(0, never); // every call of a burst listens to it

/** The messages that the kubelet sent for a pod, as the runtime has kept them. */
export interface PodMessages {
  readonly sandbox: PodSandboxConfig;
  readonly container: ContainerConfig;
}

export interface RawPod {
  readonly sandboxId: string;
  readonly containerId: string;
  readonly messages: PodMessages;
}

/** Pods made with nothing but the runtime's own calls, from the messages of a pod that the kubelet made: what no kubelet can be faster than. */
export class Floor {
  readonly #channel: GrpcChannel;

  constructor(endpoint: string) {
    this.#channel = openChannel(endpoint, systemClock);
  }

  close(): void {
    this.#channel.close();
  }

  async messagesOf(pod: Pod): Promise<PodMessages> {
    const containerId = pod.status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, '') ?? '';
    const status = await this.#channel.call(service, 'containerStatus', { containerId, verbose: true }, {}, never);
    const container = infoOf(status.info);
    const sandboxStatus = await this.#channel.call(
      service,
      'podSandboxStatus',
      { podSandboxId: String(container['sandboxID']), verbose: true },
      {},
      never,
    );
    return {
      sandbox: PodSandboxConfig.fromPartial(fromGoJson(infoOf(sandboxStatus.info)['config']) as object), // JSON of this very message
      container: ContainerConfig.fromPartial(fromGoJson(container['config']) as object),
    };
  }

  /** RunPodSandbox, CreateContainer, StartContainer. What a kubelet makes before (log folder, cgroup) is there before. */
  async start(template: PodMessages): Promise<{ readonly pod: RawPod; readonly tookMs: number }> {
    const messages = anotherPod(template);
    await mkdir(messages.sandbox.logDirectory, { recursive: true });
    const startedAt = performance.now();
    const { podSandboxId } = await this.#channel.call(service, 'runPodSandbox', { config: messages.sandbox, runtimeHandler: '' }, {}, never);
    const containerId = await this.#startContainer(podSandboxId, messages);
    return { pod: { sandboxId: podSandboxId, containerId, messages }, tookMs: performance.now() - startedAt };
  }

  /** Kills the container, waits until the runtime says so, then CreateContainer and StartContainer in the same sandbox. */
  async crash(pod: RawPod): Promise<{ readonly pod: RawPod; readonly tookMs: number }> {
    const pid = await this.pidOf(pod.containerId);
    const attempt = (pod.messages.container.metadata?.attempt ?? 0) + 1;
    const container = { ...pod.messages.container, metadata: { name: pod.messages.container.metadata?.name ?? 'main', attempt } };
    const startedAt = performance.now();
    process.kill(pid, 'SIGKILL');
    for (;;) {
      const { status } = await this.#channel.call(service, 'containerStatus', { containerId: pod.containerId, verbose: false }, {}, never);
      if (status?.state === ContainerState.CONTAINER_EXITED) break;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const messages = { ...pod.messages, container };
    const containerId = await this.#startContainer(pod.sandboxId, messages);
    return { pod: { ...pod, containerId, messages }, tookMs: performance.now() - startedAt };
  }

  /** StopContainer, StopPodSandbox, RemovePodSandbox (which removes the container). */
  async remove(pod: RawPod): Promise<{ readonly tookMs: number }> {
    const startedAt = performance.now();
    await this.#channel.call(service, 'stopContainer', { containerId: pod.containerId, timeout: 1 }, {}, never);
    await this.#channel.call(service, 'stopPodSandbox', { podSandboxId: pod.sandboxId }, {}, never);
    await this.#channel.call(service, 'removePodSandbox', { podSandboxId: pod.sandboxId }, {}, never);
    const tookMs = performance.now() - startedAt;
    await rm(pod.messages.sandbox.logDirectory, { recursive: true, force: true });
    return { tookMs };
  }

  async pidOf(containerId: string): Promise<number> {
    const { info } = await this.#channel.call(service, 'containerStatus', { containerId, verbose: true }, {}, never);
    return Number(infoOf(info)['pid']);
  }

  async #startContainer(podSandboxId: string, { sandbox, container }: PodMessages): Promise<string> {
    const { containerId } = await this.#channel.call(
      service,
      'createContainer',
      { podSandboxId, config: container, sandboxConfig: sandbox },
      {},
      never,
    );
    await this.#channel.call(service, 'startContainer', { containerId }, {}, never);
    return containerId;
  }
}

function infoOf(info: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return JSON.parse(info['info'] ?? '{}') as Readonly<Record<string, unknown>>; // containerd's own description
}

/** The same messages for a pod of another name, which no kubelet takes for its own. */
function anotherPod({ sandbox, container }: PodMessages): PodMessages {
  const uid = randomUUID();
  const name = `floor-${uid.slice(0, 8)}`;
  return {
    sandbox: {
      ...sandbox,
      metadata: { name, uid, namespace: sandbox.metadata?.namespace ?? 'default', attempt: 0 },
      labels: foreign(sandbox.labels),
      logDirectory: `${sandbox.logDirectory}-${name}`,
    },
    container: { ...container, metadata: { name: container.metadata?.name ?? 'main', attempt: 0 }, labels: foreign(container.labels) },
  };
}

function foreign(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key.replace('io.kubernetes.', 'io.floor......'), value]));
}
