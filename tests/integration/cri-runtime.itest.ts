import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import type { CriRuntime } from '#wire/cri/cri-runtime.ts';
import { CommandNotRunnable, ImageNotFound, NameReserved } from '#wire/cri/errors.ts';
import type { RuntimeEvent } from '#wire/cri/runtime-event.ts';
import { ContainerState, PodSandboxState } from '#wire/generated/cri.ts';
import { containerConfig, host, hostSide, never, runPod, sandboxConfig } from '../support/host-side.ts';

const side = await hostSide();
let runtime: CriRuntime;

before(async () => {
  await side.up();
  runtime = side.runtime();
});

test('the runtime says its version and that it and its network are ready', async () => {
  assert.equal((await runtime.version(never)).runtimeName, 'containerd');
  const conditions = (await runtime.status(never)).status?.conditions.map(({ type, status }) => [type, status]);
  assert.deepEqual(conditions, [
    ['RuntimeReady', true],
    ['NetworkReady', true],
  ]);
});

test('a pod runs with an address of the node’s range, is seen in events, logs, and leaves nothing', async () => {
  const seen: RuntimeEvent[] = [];
  const watching = new AbortController();
  const connected = deferred();
  const watcher = (async () => {
    try {
      for await (const event of runtime.events(watching.signal)) {
        seen.push(event);
        if (event.kind === 'connected') connected.resolve();
      }
    } catch (error) {
      if (!watching.signal.aborted) throw error;
    }
  })();
  await connected.promise;

  const { sandbox, container } = await runPod(side, runtime, 'talks', ['sh', '-c', 'echo out; echo err >&2; hostname; exit 3']);
  const address = (await runtime.podSandboxStatus(sandbox, never))?.network?.ip ?? '';
  const range = JSON.parse(await readFile(`${side.dataDir}/settings.json`, 'utf8')).nodePodCIDR as string;
  assert.equal(address.split('.').slice(0, 3).join('.'), range.split('.').slice(0, 3).join('.'));

  await until(async () => (await runtime.containerStatus(container, never))?.state === ContainerState.CONTAINER_EXITED);
  assert.equal((await runtime.containerStatus(container, never))?.exitCode, 3);
  const log = await readFile(`${side.dataDir}/pod-logs/talks/main.log`, 'utf8');
  assert.match(log, /stdout F out\n/);
  assert.match(log, /stderr F err\n/);
  assert.match(log, /stdout F talks\n/);

  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
  await until(async () => seen.some(({ kind, ...rest }) => kind === 'deleted' && 'id' in rest && rest.id === sandbox));
  watching.abort();
  await watcher;
  const about = (id: string) => seen.flatMap((event) => ('id' in event && event.id === id ? [event.kind] : []));
  assert.equal(seen[0]?.kind, 'connected');
  assert.deepEqual(about(container), ['created', 'started', 'exited', 'deleted']);
  assert.deepEqual(about(sandbox), ['created', 'started', 'exited', 'deleted']);
  assert.equal(await runtime.podSandboxStatus(sandbox, never), undefined);
  assert.deepEqual(await side.leftovers(), [`cgroup /kubernode/${side.name}/podtalks`]); // the kubelet's part, which is not here
  await host.cgroups.removeTree(`/kubernode/${side.name}/podtalks`);
  assert.deepEqual(await side.leftovers(), []);
});

test('the end of an exec is no exit of its container', async () => {
  const { sandbox, container } = await runPod(side, runtime, 'execs', ['sleep', '1000']);
  const seen: string[] = [];
  const watching = new AbortController();
  const connected = deferred();
  const watcher = (async () => {
    try {
      for await (const event of runtime.events(watching.signal)) {
        if (event.kind === 'connected') connected.resolve();
        if (event.kind === 'exited') seen.push(event.id);
      }
    } catch (error) {
      if (!watching.signal.aborted) throw error;
    }
  })();
  await connected.promise;
  const answer = await runtime.execSync(container, ['sh', '-c', 'echo here; exit 5'], 5, never);
  assert.deepEqual([answer.exitCode, Buffer.from(answer.stdout).toString()], [5, 'here\n']);
  await runtime.stopContainer(container, 0, never);
  await until(async () => seen.length > 0);
  watching.abort();
  await watcher;
  assert.deepEqual(seen, [container]);
  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
});

test('what the runtime refuses has a class of its own', async () => {
  const config = sandboxConfig(side, 'refused');
  const sandbox = await runtime.runPodSandbox(config, '', never);
  await assert.rejects(runtime.runPodSandbox(config, '', never), NameReserved);
  const unknown = { ...containerConfig('a', ['x']), image: { ...(containerConfig('a', []).image ?? missing()), image: 'nobody/has:this' } };
  await assert.rejects(runtime.createContainer(sandbox, unknown, config, never), ImageNotFound);
  const wrong = await runtime.createContainer(sandbox, containerConfig('b', ['/no/such/program']), config, never);
  await assert.rejects(runtime.startContainer(wrong, never), CommandNotRunnable);
  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
});

test('a container that two remove at once is removed, and neither of them fails', async () => {
  const pods = await Promise.all(['a', 'b', 'c', 'd'].map((name) => runPod(side, runtime, `twice-${name}`, ['sleep', '1000'])));
  const removals = pods.flatMap(({ container }) => [1, 2, 3].map(() => runtime.removeContainer(container, never)));
  await Promise.all(removals);
  for (const { sandbox, container } of pods) {
    assert.equal(await runtime.containerStatus(container, never), undefined);
    await runtime.stopPodSandbox(sandbox, never);
    await runtime.removePodSandbox(sandbox, never);
  }
});

test('what is not there is no error where the contract says so', async () => {
  assert.equal(await runtime.containerStatus('none', never), undefined);
  assert.equal(await runtime.podSandboxStatus('none', never), undefined);
  await runtime.stopContainer('none', 0, never);
  await runtime.removeContainer('none', never);
  await runtime.stopPodSandbox('none', never);
  await runtime.removePodSandbox('none', never);
});

test('a call that is given up ends at once, and the runtime goes on', async () => {
  const { sandbox, container } = await runPod(side, runtime, 'slow', ['sleep', '1000']);
  const giveUp = new AbortController();
  const call = runtime.execSync(container, ['sleep', '30'], 0, giveUp.signal);
  const startedAt = performance.now();
  setTimeout(() => giveUp.abort(), 100);
  await assert.rejects(call, { code: 'CANCELLED' });
  assert.ok(performance.now() - startedAt < 2000);
  assert.equal((await runtime.podSandboxStatus(sandbox, never))?.state, PodSandboxState.SANDBOX_READY);
  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
});

async function until(check: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!(await check())) {
    assert.ok(performance.now() < giveUpAt, 'it did not happen within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

function missing(): never {
  throw new Error('the configuration has no image');
}
