import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { ContainerConfig, PodSandboxConfig } from '#wire/generated/cri.ts';
import { MemoryRuntime } from '../runtime/testing/memory-runtime.ts';
import { withFaultPoints } from './fault-points.ts';

const { signal } = new AbortController();

test('every call that makes or ends something of a pod is a boundary before and after, by the names of pod and container', async () => {
  const reached: string[] = [];
  const runtime = withFaultPoints(new MemoryRuntime(new FakeClock()), (pod, point) => reached.push(`${pod}/${point}`));
  const labels = { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.uid': 'u1' };
  const metadata = { name: 'web', uid: 'u1', namespace: 'default', attempt: 0 };
  const sandbox = PodSandboxConfig.create({ metadata, labels });
  const image = { image: 'docker.io/library/busybox:latest' };
  const main = ContainerConfig.create({ metadata: { name: 'main' }, image, labels: { ...labels, 'io.kubernetes.container.name': 'main' } });
  const sandboxId = await runtime.runPodSandbox(sandbox, '', signal);
  const id = await runtime.createContainer(sandboxId, main, sandbox, signal);
  await runtime.startContainer(id, signal);
  await runtime.listContainers({}, signal);
  await runtime.stopContainer(id, 1, signal);
  await runtime.stopPodSandbox(sandboxId, signal);
  await runtime.removeContainer(id, signal);
  await runtime.removePodSandbox(sandboxId, signal);
  const calls = ['RunPodSandbox', 'CreateContainer:main', 'StartContainer:main', 'StopContainer:main', 'StopPodSandbox', 'RemoveContainer:main'];
  assert.deepEqual(
    reached,
    [...calls, 'RemovePodSandbox'].flatMap((call) => [`web/${call}:before`, `web/${call}:after`]),
  );
});
