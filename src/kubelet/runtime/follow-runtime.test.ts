import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '#base/errors.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { ContainerConfig, PodSandboxConfig } from '#wire/generated/cri.ts';
import { defaultFollowSettings, followRuntime } from './follow-runtime.ts';
import { annotation, label } from './labels.ts';
import { RuntimeCache } from './runtime-cache.ts';
import { MemoryRuntime } from './testing/memory-runtime.ts';

const labels = { [label.podUid]: 'u1', [label.podName]: 'web', [label.podNamespace]: 'default' };

async function rig(exitLagMs = 40) {
  const clock = new FakeClock();
  const runtime = new MemoryRuntime(clock, { exitLagMs });
  const files = createMemoryFiles(new MemoryTree());
  const cache = new RuntimeCache({ runtime, files, clock });
  const told: string[] = [];
  cache.subscribe((uid) => told.push(uid));
  const abort = new AbortController();
  const running = followRuntime({ runtime, cache, clock, logger: silentLogger, settings: defaultFollowSettings }, abort.signal);
  await cache.synced(abort.signal);
  const { signal } = abort;
  const sandbox = await runtime.runPodSandbox(
    PodSandboxConfig.create({ metadata: { name: 'web', uid: 'u1', namespace: 'default' }, labels }),
    '',
    signal,
  );
  await cache.refreshSandbox(sandbox, signal);
  const start = async () => {
    const config = ContainerConfig.create({
      metadata: { name: 'main', attempt: 0 },
      labels: { ...labels, [label.containerName]: 'main' },
      annotations: { [annotation.terminationMessagePath]: '/dev/termination-log', [annotation.restartCount]: '3' },
      mounts: [{ containerPath: '/dev/termination-log', hostPath: '/words' }],
    });
    const id = await runtime.createContainer(sandbox, config, PodSandboxConfig.create({}), signal);
    await runtime.startContainer(id, signal);
    await cache.refreshContainer(id, signal);
    return id;
  };
  const end = async () => {
    abort.abort();
    await clock.advance(1);
    await running;
  };
  return { clock, runtime, files, cache, told, signal, sandbox, start, end };
}

test('an exit is seen when the status shows it, with the last words, without waiting for the next list', async () => {
  const { clock, runtime, files, cache, told, signal, start, end } = await rig(40);
  const id = await start();
  await files.write('/words', 'goodbye', 0o644, signal);
  told.length = 0;
  runtime.exit(id, 7);
  await clock.advance(39);
  assert.deepEqual([cache.get('u1')?.containers[0]?.phase, told], ['running', []]);
  await clock.advance(10);
  const [container] = cache.get('u1')?.containers ?? [];
  assert.deepEqual([container?.phase, container?.exitCode, container?.message, container?.restartCount], ['exited', 7, 'goodbye', 3]);
  assert.deepEqual(told, ['u1']);
  await end();
});

test('a sandbox whose pause process died is seen as not ready', async () => {
  const { clock, runtime, cache, sandbox, end } = await rig();
  runtime.killSandbox(sandbox);
  await clock.advance(1);
  assert.equal(cache.get('u1')?.sandboxes[0]?.ready, false);
  await end();
});

test('what ended while nobody listened is found by the next list', async () => {
  const { clock, runtime, cache, start, end } = await rig(0);
  const id = await start();
  runtime.before = () => {
    throw new Unavailable({ message: 'away' });
  };
  runtime.exit(id, 1);
  await clock.advance(10);
  assert.equal(cache.get('u1')?.containers[0]?.phase, 'running');
  runtime.before = () => undefined;
  await clock.advance(defaultFollowSettings.relistMs);
  assert.equal(cache.get('u1')?.containers[0]?.phase, 'exited');
  await end();
});

test('what ended just before the events began, and still shows as running at the first look, is found soon', async () => {
  const clock = new FakeClock();
  const runtime = new MemoryRuntime(clock, { exitLagMs: 40 });
  const cache = new RuntimeCache({ runtime, files: createMemoryFiles(new MemoryTree()), clock });
  const abort = new AbortController();
  const { signal } = abort;
  const sandbox = await runtime.runPodSandbox(
    PodSandboxConfig.create({ metadata: { name: 'web', uid: 'u1', namespace: 'default' }, labels }),
    '',
    signal,
  );
  const config = ContainerConfig.create({ metadata: { name: 'main', attempt: 0 }, labels: { ...labels, [label.containerName]: 'main' } });
  const id = await runtime.createContainer(sandbox, config, PodSandboxConfig.create({}), signal);
  await runtime.startContainer(id, signal);
  runtime.exit(id, 1);
  const running = followRuntime({ runtime, cache, clock, logger: silentLogger, settings: defaultFollowSettings }, signal);
  await cache.synced(signal);
  assert.equal(cache.get('u1')?.containers[0]?.phase, 'running');
  await clock.advance(100);
  assert.equal(cache.get('u1')?.containers[0]?.phase, 'exited');
  abort.abort();
  await clock.advance(1);
  await running;
});

test('a pod whose last record was removed from the runtime is gone', async () => {
  const { clock, runtime, cache, told, signal, sandbox, end } = await rig();
  told.length = 0;
  await runtime.removePodSandbox(sandbox, signal);
  await clock.advance(1);
  assert.deepEqual([cache.get('u1'), told], [undefined, ['u1']]);
  await end();
});
