import type { Pod } from '#api/types/core-v1.ts';
import { type Kubectl, outputOf } from './kubectl.ts';

export const busybox = 'docker.io/library/busybox:latest';

/** A pod that sleeps until it is told to stop, as a manifest; override what the test is about. */
export function sleeper(name: string, spec: object = {}, container: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: busybox,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'trap "exit 0" TERM; sleep 100000 & wait'],
          ...container,
        },
      ],
      ...spec,
    },
  };
}

export async function apply(kubectl: Kubectl, ...objects: readonly object[]): Promise<string> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  return outputOf(await kubectl('apply -f -', { input: JSON.stringify(list) }));
}

export async function getPod(kubectl: Kubectl, name: string): Promise<Pod> {
  return JSON.parse(outputOf(await kubectl(`get pod ${name} -o json`))) as Pod;
}

/** Waits, by watching, until the pod has the condition (`Ready`, `PodScheduled=false`...). */
export async function waitForPod(kubectl: Kubectl, name: string, condition = 'Ready', seconds = 60): Promise<void> {
  outputOf(await kubectl(`wait pod/${name} --for=condition=${condition} --timeout=${seconds}s`));
}

/** Waits, by watching, until the JSON path of the pod has the value. */
export async function waitForField(kubectl: Kubectl, name: string, path: string, value: string, seconds = 60): Promise<void> {
  outputOf(await kubectl(['wait', `pod/${name}`, `--for=jsonpath=${path}=${value}`, `--timeout=${seconds}s`]));
}
