import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { test } from 'node:test';
import { findCluster } from '#cluster/find-clusters.ts';
import { hostNames } from '#cluster/host-names.ts';
import { clusterStatus } from '#cluster/status.ts';
import { up } from '#cluster/up/up.ts';
import { host, hostSide, never, runPod } from '../support/host-side.ts';

const side = await hostSide();

test('up makes a cluster whose parts all serve, with keys that nobody else reads', async () => {
  const { kubeconfig, paths } = await side.up();
  const status = await clusterStatus(side.name, side.dataDir, host, never);
  assert.equal(status.state, 'running');
  assert.deepEqual(
    status.parts.map(({ part, isHealthy, detail }) => [part, isHealthy, detail]),
    ['supervisor', 'control-plane', 'containerd', 'kubelet', 'node'].map((part) => [part, true, 'serves']),
  );
  for (const file of [kubeconfig, `${paths.pkiDir}/ca.key`, `${paths.pkiDir}/service-account.key`, paths.settingsFile]) {
    assert.equal((await stat(file)).mode & 0o777, 0o600, file);
  }
});

test('the images of every node are there', async () => {
  const runtime = side.runtime();
  const names = (await runtime.listImages(never)).flatMap((image) => image.repoTags);
  assert.deepEqual(names.sort(), ['docker.io/library/busybox:latest', 'localhost/kubernode/pause:1']);
  runtime.close();
});

test('a second up changes nothing', async () => {
  const before = await host.files.readText(`/run/kubernode/${side.name}/containerd.process.json`);
  const settings = await readFile(`${side.dataDir}/settings.json`, 'utf8');
  await side.up();
  assert.equal(await host.files.readText(`/run/kubernode/${side.name}/containerd.process.json`), before);
  assert.equal(await readFile(`${side.dataDir}/settings.json`, 'utf8'), settings);
});

test('a second data folder for the name is refused, and so is another port', async () => {
  await assert.rejects(side.up({ dataDir: `${side.dataDir}-other` }), { code: 'NAME_TAKEN', message: new RegExp(`its data in ${side.dataDir},`) });
  await assert.rejects(side.up({ port: 1 }), { code: 'INVALID_INPUT', message: /cannot take --port 1 \(it has \d+\)/ });
});

test('two clusters started at once have ports, ranges and rules of their own', async () => {
  const other = await hostSide();
  const [first, second] = await Promise.all([side.up(), other.up()]);
  assert.notEqual(first.settings.apiPort, second.settings.apiPort);
  assert.notEqual(first.settings.kubeletPort, second.settings.kubeletPort);
  assert.notEqual(first.settings.podCIDR, second.settings.podCIDR);
  const rules = await host.network.rules(never);
  for (const { names, settings } of [first, second]) {
    assert.ok(rules.includes(`-A ${names.iptablesChain} -s ${settings.podCIDR} ! -d ${settings.podCIDR} -j MASQUERADE`));
  }
});

test('down with pods running leaves nothing but the data, and up starts from it again', async () => {
  const runtime = side.runtime();
  await runPod(side, runtime, 'stays', ['sleep', '1000']);
  runtime.close();
  const authority = await readFile(`${side.dataDir}/pki/ca.crt`, 'utf8');
  await side.down();
  assert.deepEqual(await side.leftovers(), []);
  assert.equal((await clusterStatus(side.name, side.dataDir, host, never)).state, 'stopped');
  await side.down(); // there is nothing to stop
  const startedAt = performance.now();
  const { settings } = await side.up();
  assert.ok(performance.now() - startedAt < 10_000);
  assert.equal(await readFile(`${side.dataDir}/pki/ca.crt`, 'utf8'), authority);
  assert.ok(settings.apiPort > 0);
});

test('a part that does not start is named, with the end of its log', async () => {
  const broken = await hostSide();
  const controlPlane = { program: process.execPath, args: ['-e', 'console.error("the store is on fire"); process.exit(7)', '--'] };
  const start = up({ ...broken.options, programs: { ...broken.options.programs, controlPlane } }, host, () => undefined, never);
  await assert.rejects(start, { code: 'PART_FAILED', message: /^control-plane does not start: .* exit status 7; .*the store is on fire/ });
});

test('a containerd that does not start is named, with the end of its log', async () => {
  const broken = await hostSide();
  await host.files.write(`/run/kubernode/${broken.name}/containerd`, 'where its state folder should be', 0o644);
  await assert.rejects(broken.up(), { code: 'PART_FAILED', message: /^containerd does not start: .* exit status 1; .*containerd: not a directory/ });
});

test('up tidies up what an earlier life left on the host, when nothing else remembers it', async () => {
  const forgotten = await hostSide();
  await forgotten.up();
  const runtime = forgotten.runtime();
  await runPod(forgotten, runtime, 'left', ['sleep', '1000']);
  runtime.close();
  const { processes } = await findCluster(forgotten.name, forgotten.dataDir, host);
  for (const process of Object.values(processes)) await host.processes.signal(process, 'SIGKILL');
  for (const mount of await host.mounts.listBelow(`/run/kubernode/${forgotten.name}`)) await host.mounts.unmount(mount.target, never);
  await host.files.removeTree(`/run/kubernode/${forgotten.name}`);
  await forgotten.up();
  assert.deepEqual(await forgotten.leftovers(), []);
});

test('a runtime of somebody else is used as it is; down takes the cluster’s own pods from it and leaves the others', async () => {
  const owner = await hostSide();
  await owner.up();
  const guest = await hostSide();
  const { settings, paths } = await guest.up({ runtimeEndpoint: `unix:///run/kubernode/${owner.name}/containerd.sock` });
  assert.deepEqual([settings.runtime.kind, settings.runtime.ownsCniConfig], ['external', false]);
  assert.ok(!(await host.network.links()).some(({ name }) => name === hostNames(guest.name).bridge));
  const runtime = owner.runtime();
  const { sandbox: theirs } = await runPod(owner, runtime, 'theirs', ['sleep', '1000']);
  const { sandbox: ours } = await runPod(guest, runtime, 'ours', ['sleep', '1000']);
  await host.files.ensureDirectory(`${paths.kubeletRoot}/pods/ours`, 0o750); // as the kubelet does
  await guest.down();
  assert.equal(await runtime.podSandboxStatus(ours, never), undefined);
  assert.notEqual(await runtime.podSandboxStatus(theirs, never), undefined);
  runtime.close();
});

test('the control plane alone has no node, no runtime and no network', async () => {
  const alone = await hostSide();
  await alone.up({ apiOnly: true });
  const status = await clusterStatus(alone.name, alone.dataDir, host, never);
  assert.deepEqual(
    status.parts.map(({ part, isHealthy }) => [part, isHealthy]),
    [
      ['supervisor', true],
      ['control-plane', true],
    ],
  );
  const { bridge, iptablesChain } = hostNames(alone.name);
  assert.ok(!(await host.network.links()).some(({ name }) => name === bridge));
  assert.ok(!(await host.network.rules(never)).includes(iptablesChain));
});
