import { isRunning, type PodRuntimeState } from '../runtime/pod-runtime-state.ts';

/** `/runningpods/`: what the runtime runs, whatever the API server knows of it. */
export function runningPods(states: readonly PodRuntimeState[]): unknown {
  const items = states.flatMap(({ uid, namespace, name, containers }) => {
    const running = containers.filter(isRunning).map(({ name: container, image }) => ({ name: container, image, resources: {} }));
    return running.length === 0 ? [] : [{ metadata: { name, namespace, uid }, spec: { containers: running }, status: {} }];
  });
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}
