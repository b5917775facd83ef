import type { ContainerConfig, PodSandboxConfig } from '#wire/generated/cri.ts';
import type { RuntimePort } from '../ports/runtime.ts';

/**
 * Told when a pod comes to a boundary, before anything else happens; tests end the process there.
 *
 * @param point `<step>:start|stop:before|after`, `<call>:before|after` of a call about a sandbox, `<call>:<container>:before|after` of one about
 *   a container
 */
export type FaultPoint = (podName: string, point: string) => void;

const nameLabels = { pod: 'io.kubernetes.pod.name', container: 'io.kubernetes.container.name' } as const;

/** The same runtime; each call that makes or ends something is a boundary before and after. For tests: it asks the runtime whose ids they are. */
export function withFaultPoints(runtime: RuntimePort, reach: FaultPoint): RuntimePort {
  async function around<T>(call: string, { pod, container }: Names, work: () => Promise<T>): Promise<T> {
    const point = container === undefined ? call : `${call}:${container}`;
    reach(pod, `${point}:before`);
    const result = await work();
    reach(pod, `${point}:after`);
    return result;
  }
  const ofSandbox = async (id: string, signal: AbortSignal) => named((await runtime.podSandboxStatus(id, signal))?.labels);
  const ofContainer = async (id: string, signal: AbortSignal) => named((await runtime.containerStatus(id, signal))?.labels);
  const changed: Partial<RuntimePort> = {
    runPodSandbox: (config, handler, signal) => around('RunPodSandbox', named(config.labels), () => runtime.runPodSandbox(config, handler, signal)),
    stopPodSandbox: async (id, signal) => around('StopPodSandbox', await ofSandbox(id, signal), () => runtime.stopPodSandbox(id, signal)),
    removePodSandbox: async (id, signal) => around('RemovePodSandbox', await ofSandbox(id, signal), () => runtime.removePodSandbox(id, signal)),
    createContainer: (sandboxId, config, sandboxConfig, signal) =>
      around('CreateContainer', named(config.labels), () => runtime.createContainer(sandboxId, config, sandboxConfig, signal)),
    startContainer: async (id, signal) => around('StartContainer', await ofContainer(id, signal), () => runtime.startContainer(id, signal)),
    stopContainer: async (id, seconds, signal) =>
      around('StopContainer', await ofContainer(id, signal), () => runtime.stopContainer(id, seconds, signal)),
    removeContainer: async (id, signal) => around('RemoveContainer', await ofContainer(id, signal), () => runtime.removeContainer(id, signal)),
  };
  return new Proxy(runtime, {
    get(target, property) {
      const member: unknown = Reflect.get(changed, property) ?? Reflect.get(target, property, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

interface Names {
  readonly pod: string;
  readonly container: string | undefined;
}

function named(labels: ContainerConfig['labels'] | PodSandboxConfig['labels'] = {}): Names {
  return { pod: labels[nameLabels.pod] ?? '', container: labels[nameLabels.container] };
}
