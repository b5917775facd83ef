import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kubectlOf, outputOf } from '../support/kubectl.ts';
import { type ClusterUnderTest, startCluster } from '../support/start-cluster.ts';

// The platforms that setup.sh knows a package for.
const hasPackage = ['x64', 'arm64'].includes(process.arch);
const skip = hasPackage ? false : `no npm package has Node.js for ${process.arch}`;
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** `startCluster` ends the file with `down` and the leak check, which run on the cluster's own Node.js too. */
async function startWith(major: string): Promise<{ readonly node: string; readonly cluster: ClusterUnderTest }> {
  const node = pathOf(`.cache/tools/node-${major}/node`);
  if (!existsSync(node)) throw new Error(`Node.js ${major} is not there: run ./scripts/setup.sh --tests`);
  return { node, cluster: await startCluster({ program: [node, pathOf('dist/kubernode.js')] }) };
}

// Before the first test: with nothing left to run while the second cluster starts, the runner would end the file and take both down.
const majors = ['22', '24'] as const;
const clusters = hasPackage ? await Promise.all(majors.map(startWith)) : [];

for (const [index, major] of majors.entries()) {
  const started = clusters[index];

  test(`every part of a cluster runs on Node.js ${major}`, { skip }, async () => {
    assert.ok(started !== undefined);
    const { node, cluster } = started;
    for (const part of ['control-plane', 'kubelet']) {
      const { pid } = JSON.parse(await readFile(cluster.paths.processFile(part), 'utf8')) as { readonly pid: number };
      assert.equal(await readlink(`/proc/${pid}/exe`), node, part);
    }
  });

  test(`a pod starts, answers and is explained on Node.js ${major}`, { skip }, async () => {
    assert.ok(started !== undefined);
    const { cluster } = started;
    const run = await cluster.kubernode('run', '-f', pathOf('examples/hello.yaml'));
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /^pod default\/hello is Ready$/m);
    assert.equal(outputOf(await kubectlOf(cluster.kubeconfig)('exec hello -- echo alive')), 'alive\n');
    assert.equal((await cluster.kubernode('why', 'hello')).stdout, 'pod default/hello is Running and Ready\n');
  });
}
