import assert from 'node:assert/strict';
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CreateClusterOptions, createCluster, type TestCluster } from '#testing/create-cluster.ts';
import { type Kubectl, type KubectlVersion, kubectlOf } from './kubectl.ts';

export interface ClusterUnderTest extends TestCluster {
  readonly kubectl: Kubectl;
  kubectlOf(version: KubectlVersion): Kubectl;
}

/**
 * Starts the cluster of a test file, and ends the file with the leak check: `audit` is clean while the cluster lives, and after `down`
 * nothing of it is on the host. The logs of its parts are kept under `.cache/test-logs/`.
 */
export async function startCluster(options: CreateClusterOptions = {}): Promise<ClusterUnderTest> {
  const cluster = await createCluster(options);
  after(async () => {
    const before = await cluster.kubernode('audit');
    await keepLogs(cluster);
    await cluster.dispose();
    const left = await cluster.kubernode('audit');
    assert.equal(before.code, 0, `host objects without an owner while the cluster runs:\n${before.stdout}${before.stderr}`);
    assert.equal(left.code, 0, `host objects that are left after down:\n${left.stdout}${left.stderr}`);
  });
  return {
    ...cluster,
    kubectl: kubectlOf(cluster.kubeconfig),
    kubectlOf: (version) => kubectlOf(cluster.kubeconfig, version),
  };
}

/** Those of the file's last run. */
const logsOfFile = fileURLToPath(new URL(`../../.cache/test-logs/${basename(process.argv[1] ?? 'unknown').replace(/\.ts$/, '')}`, import.meta.url));
let emptied: Promise<void> | undefined;

async function keepLogs(cluster: TestCluster): Promise<void> {
  emptied ??= rm(logsOfFile, { recursive: true, force: true }); // once: a file may have several clusters
  await emptied;
  const folder = join(logsOfFile, cluster.name);
  await mkdir(folder, { recursive: true });
  await cp(cluster.paths.partLogs, folder, { recursive: true, force: true }).catch(() => undefined); // a cluster that never ran has none
}
