import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCluster } from '#testing/create-cluster.ts';
import { kubectlOf, outputOf } from '../support/kubectl.ts';

/** Debian's `nobody`. */
const user = 65_534;

const folder = await mkdtemp(join(tmpdir(), 'ordinary-user-'));
await chmod(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));

/** What npm would install: a clone may lie where the user cannot read. */
async function installedCopy(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dev?: boolean }> };
  const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(root, path)));
  for (const path of ['dist', 'package.json', ...packages.map(([name]) => name)]) {
    await mkdir(join(folder, 'package', dirname(path)), { recursive: true });
    await cp(join(root, path), join(folder, 'package', path), { recursive: true });
  }
  return join(folder, 'package/dist/kubernode.js');
}

async function ownedFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  await chown(path, user, user);
  return path;
}

const program = await installedCopy();

/** The second uses nothing of Linux: what macOS and others have. */
for (const host of ['linux', 'portable']) {
  test(`a user who is not root has a control plane of their own (${host} host)`, async () => {
    const [home, dataDir] = [await ownedFolder(`home-${host}`), await ownedFolder(`data-${host}`)];
    const asUser = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
    await using cluster = await createCluster({
      nodes: 0,
      dataDir: join(dataDir, 'cluster'),
      program: [...asUser, 'env', `HOME=${home}`, `KUBERNODE_HOST=${host}`, process.execPath, program],
    });
    // Run by root: what it keeps must not lie in the user's folders.
    const kubectl = (words: string) => kubectlOf(cluster.kubeconfig)(words, { env: { HOME: folder } });
    assert.equal(outputOf(await kubectl('create configmap mine --from-literal=a=b')), 'configmap/mine created\n');
    assert.equal(outputOf(await kubectl('get nodes --ignore-not-found')), '');
    assert.equal(outputOf(await kubectl('auth can-i create pods')), 'yes\n');
    const status = await cluster.kubernode('status', '-o', 'json');
    const { parts } = JSON.parse(status.stdout) as { parts: { part: string; isHealthy: boolean }[] };
    assert.deepEqual(
      parts.map(({ part, isHealthy }) => `${part} ${isHealthy}`),
      ['supervisor true', 'control-plane true'],
    );
    const { uid, mode } = await stat(cluster.kubeconfig);
    assert.deepEqual([uid, mode & 0o777], [user, 0o600]);
    const node = await cluster.kubernode('up');
    assert.equal(node.code, 1);
    assert.match(node.stderr, host === 'linux' ? /a node needs root/ : /a node needs Linux/);
    await cluster.up();
    assert.equal(outputOf(await kubectl('get configmap mine -o name')), 'configmap/mine\n');
    await cluster.dispose();
    assert.equal(existsSync(join(dataDir, 'cluster')), false);
    const left = await cluster.kubernode('status');
    assert.equal(left.stderr, `there is no cluster ${cluster.name}\n`);
  });
}
