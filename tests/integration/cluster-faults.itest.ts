import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { clusterPaths } from '#cluster/cluster-paths.ts';
import type { PartName } from '#cluster/find-clusters.ts';
import type { ProcessIdentity } from '#cluster/ports/processes.ts';
import { clusterStatus } from '#cluster/status.ts';
import { liveProcess } from '#cluster/supervisor/process-file.ts';
import { ContainerState } from '#wire/generated/cri.ts';
import { host, hostSide, never, runPod } from '../support/host-side.ts';

const side = await hostSide();
const paths = clusterPaths(`/run/kubernode/${side.name}`, side.dataDir);

before(async () => {
  await side.up();
});

test('a part that is killed is started again', async () => {
  for (const part of ['kubelet', 'control-plane', 'containerd'] as const) {
    const killed = await kill(part);
    const fresh = await until(async () => {
      const process = await processOf(part);
      return process?.pid === killed.pid ? undefined : process;
    });
    assert.notEqual(fresh.pid, killed.pid, part);
  }
  await untilHealthy();
});

test('containers outlive their containerd, which knows them again', async () => {
  const runtime = side.runtime();
  const { sandbox, container } = await runPod(side, runtime, 'outlives', ['sh', '-c', 'while :; do sleep 0.1; done']);
  await kill('containerd');
  await until(() => processOf('containerd'));
  await until(async () =>
    (await runtime.containerStatus(container, never).catch(() => undefined))?.state === ContainerState.CONTAINER_RUNNING ? true : undefined,
  );
  await runtime.stopPodSandbox(sandbox, never);
  await runtime.removePodSandbox(sandbox, never);
  await host.cgroups.removeTree(`/kubernode/${side.name}/podoutlives`);
  runtime.close();
  assert.deepEqual(await side.leftovers(), []);
});

test('parts outlive their supervisor; up finds them and starts what is missing', async () => {
  const kept = { containerd: await processOf('containerd'), kubelet: await processOf('kubelet') };
  await kill('supervisor');
  await kill('control-plane');
  await side.up();
  assert.deepEqual({ containerd: await processOf('containerd'), kubelet: await processOf('kubelet') }, kept);
  await untilHealthy();
  // Not its children, but watched all the same.
  await kill('kubelet');
  const fresh = await until(() => processOf('kubelet'));
  assert.notEqual(fresh.pid, kept.kubelet?.pid);
});

test('nonsense on the supervisor’s socket is refused, and the parts do not notice', async () => {
  const before = await processOf('kubelet');
  const connection = await host.sockets.connect(paths.supervisorSocket);
  assert.ok(connection !== undefined);
  const replies: string[] = [];
  for (const line of ['', 'GET / HTTP/1.1', '{"do":"everything"}', '\u0000'.repeat(10_000)]) connection.send(line);
  for await (const reply of connection.lines(never)) {
    replies.push(JSON.parse(reply).kind);
    if (replies.length === 4) break;
  }
  connection.close();
  assert.deepEqual(replies, ['refused', 'refused', 'refused', 'refused']);
  assert.deepEqual(await processOf('kubelet'), before);
  await untilHealthy();
});

test('down removes a cluster of which everything is dead but its containers', async () => {
  const runtime = side.runtime();
  await runPod(side, runtime, 'orphan', ['sleep', '1000']);
  runtime.close();
  await kill('supervisor');
  for (const part of ['kubelet', 'control-plane', 'containerd'] as const) await kill(part);
  assert.notDeepEqual(await side.leftovers(), []);
  await side.down();
  assert.deepEqual(await side.leftovers(), []);
});

test('down removes containers by hand where containerd does not start any more', async () => {
  await side.up();
  const runtime = side.runtime();
  await runPod(side, runtime, 'lost', ['sleep', '1000']);
  runtime.close();
  await kill('supervisor');
  for (const part of ['kubelet', 'control-plane', 'containerd'] as const) await kill(part);
  await host.files.remove(paths.containerdConfig);
  await side.down();
  assert.deepEqual(await side.leftovers(), []);
});

test('up starts over from a run folder that a crash left behind', async () => {
  await side.up();
  await kill('supervisor');
  for (const part of ['kubelet', 'control-plane', 'containerd'] as const) await kill(part);
  await host.files.write(paths.processFile('kubelet'), '{"pid":', 0o644); // cut short
  await side.up();
  await untilHealthy();
});

async function processOf(part: PartName): Promise<ProcessIdentity | undefined> {
  return await liveProcess(host.files, host.processes, paths.processFile(part));
}

async function kill(part: PartName): Promise<ProcessIdentity> {
  const process = await until(() => processOf(part));
  await host.processes.signal(process, 'SIGKILL');
  await host.processes.whenGone(process, never);
  return process;
}

async function untilHealthy(): Promise<void> {
  await until(async () => {
    const { parts } = await clusterStatus(side.name, side.dataDir, host, never);
    return parts.every(({ isHealthy }) => isHealthy) ? true : undefined;
  });
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.ok(performance.now() < giveUpAt, 'it did not happen within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
