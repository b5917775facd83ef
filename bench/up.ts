import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { systemClock } from '#base/clock.ts';
import { createCluster, type TestCluster } from '#testing/create-cluster.ts';
import { RuntimeServiceDefinition as service } from '#wire/generated/cri.ts';
import { openChannel } from '#wire/grpc/channel.ts';

/** `up` from nothing to a Ready node, beside the floor: the same containerd alone, from its start to CRI's RuntimeReady. */
export async function measureUp(times: number): Promise<{ readonly floor: readonly number[]; readonly ours: readonly number[] }> {
  const floor: number[] = [];
  const ours: number[] = [];
  for (let time = 0; time < times; time++) {
    const startedAt = performance.now();
    const cluster = await createCluster();
    ours.push(performance.now() - startedAt);
    try {
      floor.push(await containerdAlone(cluster));
    } finally {
      await cluster.dispose();
    }
  }
  return { floor, ours };
}

/** The control plane alone, from nothing to an API that answers, beside the floor: Node.js that starts as often (command, supervisor, control plane). */
export async function measureApiOnly(times: number): Promise<{ readonly floor: readonly number[]; readonly ours: readonly number[] }> {
  const floor: number[] = [];
  const ours: number[] = [];
  for (let time = 0; time < times; time++) {
    const floorAt = performance.now();
    for (let start = 0; start < 3; start++) spawnSync(process.execPath, ['-e', ''], { stdio: 'ignore' });
    floor.push(performance.now() - floorAt);
    const startedAt = performance.now();
    const cluster = await createCluster({ nodes: 0 });
    ours.push(performance.now() - startedAt);
    await cluster.dispose();
  }
  return { floor, ours };
}

async function containerdAlone(cluster: TestCluster): Promise<number> {
  const folder = `${cluster.paths.dataDir}-floor`;
  await mkdir(folder, { recursive: true });
  const config = (await readFile(cluster.paths.containerdConfig, 'utf8'))
    .replaceAll(cluster.paths.dataDir, `${folder}/data`)
    .replaceAll(cluster.paths.runDir, `${folder}/run`);
  await writeFile(`${folder}/config.toml`, config);
  await mkdir(`${folder}/run`, { recursive: true });
  const startedAt = performance.now();
  const child = spawn('containerd', ['--config', `${folder}/config.toml`], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const channel = openChannel(`unix://${folder}/run/containerd.sock`, systemClock);
  try {
    for (;;) {
      const isReady = await channel.call(service, 'status', { verbose: false }, { timeoutMs: 1000 }, AbortSignal.timeout(30_000)).then(
        ({ status }) => status?.conditions.some((one) => one.type === 'RuntimeReady' && one.status) ?? false,
        () => false,
      );
      if (isReady) return performance.now() - startedAt;
      if (performance.now() - startedAt > 30_000) throw new Error('containerd alone was not ready after 30 s');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    channel.close();
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}
