import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aConfigMap, aContainer, aPod, aSecret } from '#api/testing/objects.ts';
import type { Volume } from '#api/types/core-v1.ts';
import { settled } from '#client/testing/settled.ts';
import { aVolumeHost } from '#kubelet/volumes/testing/volume-host.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { createLinuxMounter } from '#os/linux/mounter.ts';

// The tests mount: they run in a child with a mount namespace of its own, so that nothing can stay on the host.
const INSIDE = 'inside';
const { signal } = new AbortController();

const volumes: readonly Volume[] = [
  { name: 'conf', configMap: { name: 'settings' } },
  { name: 'sec', secret: { secretName: 'secret', defaultMode: 0o400 } },
  { name: 'ram', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  { name: 'scratch', emptyDir: {} },
  { name: 'access', projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { secret: { name: 'secret' } }] } },
];
const container = aContainer({ volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` })) });
const pod = aPod({ metadata: { uid: 'u1' }, spec: { volumes, containers: [container], securityContext: { fsGroup: 1234 } } });

if (process.argv[2] === INSIDE) {
  test('volumes of a pod on this kernel: made, renewed, found again, taken away', async (t) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'kubernode-volumes-')));
    t.after(() => rmSync(dir, { recursive: true }));
    const [root, memory] = [`${dir}/kubelet`, `${dir}/memory`];
    const mounter = await createLinuxMounter();
    const host = await aVolumeHost({ files: createLinuxFiles(), mounter, root, memory });
    await mounter.tmpfs(memory, { sizeBytes: 8 << 20, mode: 0o755 }, signal);
    host.objects.put(aConfigMap());
    host.objects.put(aSecret());

    const outcome = await host.volumes.ensure(pod, signal);
    assert.equal(outcome.kind, 'mounted', JSON.stringify(outcome));
    const at = (name: string) => (outcome.kind === 'mounted' ? (outcome.volumes.get(name)?.hostPath ?? '') : '');
    assert.equal(readFileSync(`${at('conf')}/key`, 'utf8'), 'value');
    assert.equal(readFileSync(`${at('access')}/token`, 'utf8'), 'token-1');
    const facts = (path: string) => {
      const { mode, gid } = statSync(path);
      return `${(mode & 0o7777).toString(8)} ${gid}`;
    };
    assert.deepEqual([at('scratch'), at('ram'), `${at('sec')}/key`, `${at('access')}/token`, at('conf')].map(facts), [
      '2777 1234',
      '3777 1234',
      '440 1234',
      '640 1234',
      '2777 1234',
    ]);
    assert.throws(() => writeFileSync(`${at('ram')}/large`, Buffer.alloc(2 << 20)), { code: 'ENOSPC' });

    host.objects.put(aConfigMap({ data: { key: 'new' } }));
    for (let turn = 0; turn < 5; turn += 1) await settled();
    assert.equal(readFileSync(`${at('conf')}/key`, 'utf8'), 'new');

    const volume = outcome.kind === 'mounted' ? outcome.volumes.get('conf') : undefined;
    assert.ok(volume);
    const part = await host.volumes.prepareSubPath({ podUid: 'u1', containerName: 'main', index: 0, volume, relative: 'key' }, signal);
    assert.equal(readFileSync(part, 'utf8'), 'new');
    host.objects.put(aConfigMap({ data: { key: 'newer' } }));
    for (let turn = 0; turn < 5; turn += 1) await settled();
    assert.equal(readFileSync(part, 'utf8'), 'new', 'a sub path is never updated');

    const restarted = host.restart();
    assert.equal((await restarted.ensure(pod, signal)).kind, 'mounted');
    assert.deepEqual((await mounter.listBelow(root, signal)).length, 2);
    await restarted.release('u1', signal);
    assert.deepEqual(await mounter.listBelow(root, signal), []);
    assert.deepEqual([readdirSync(`${root}/pods/u1`), existsSync(`${memory}/u1`)], [[], false]);
    await host.volumes[Symbol.asyncDispose]();
    await mounter.unmount(memory, signal);
  });
} else {
  test('volumes on the real kernel, in a mount namespace of their own', { timeout: 60_000 }, () => {
    const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const child = spawnSync('unshare', ['-m', process.execPath, '--import', 'tsx', fileURLToPath(import.meta.url), INSIDE], {
      encoding: 'utf8',
      env: environment,
    });
    assert.equal(child.status, 0, `${child.stdout}\n${child.stderr}`);
    assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), /kubernode-volumes-/); // others may mount what they like meanwhile
  });
}
