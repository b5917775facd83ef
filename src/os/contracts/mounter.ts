import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathEscapes, PathMissing } from '#kubelet/ports/host-errors.ts';
import type { HostUnderTest } from './files.ts';

/** What everybody who implements `MounterPort` must do. */
export function mounterContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<HostUnderTest>): void {
  const { signal } = new AbortController();
  const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes));
  const readWrite = { readOnly: false, recursive: false };

  async function withFolders(t: {
    after(undo: () => Promise<void>): void;
  }): Promise<HostUnderTest & { readonly source: string; readonly target: string }> {
    const host = await open(t);
    const [source, target] = [`${host.dir}/source`, `${host.dir}/target`];
    await host.files.ensureDirectory(source, 0o755, signal);
    await host.files.ensureDirectory(target, 0o755, signal);
    await host.files.write(`${source}/f`, 'content', 0o644, signal);
    return { ...host, source, target };
  }

  test(`${name}: bind twice, unmount once, nothing left`, async (t) => {
    const { files, mounter, source, target, dir } = await withFolders(t);
    await mounter.bind(source, target, readWrite, signal);
    await mounter.bind(source, target, readWrite, signal);
    assert.equal(text(await files.read(`${target}/f`, signal)), 'content');
    assert.deepEqual(
      (await mounter.listBelow(dir, signal)).map((mount) => mount.target),
      [target],
    );
    await mounter.unmount(target, signal);
    assert.deepEqual(await mounter.listBelow(dir, signal), []);
    assert.deepEqual(await files.list(target, signal), []);
    await mounter.unmount(target, signal);
  });

  test(`${name}: unmounting what is not there or not mounted is no error`, async (t) => {
    const { mounter, dir } = await open(t);
    await mounter.unmount(dir, signal);
    await mounter.unmount(`${dir}/no/such`, signal);
  });

  test(`${name}: a read-only bind cannot be written, its source can`, async (t) => {
    const { files, mounter, source, target } = await withFolders(t);
    await mounter.bind(source, target, { readOnly: true, recursive: false }, signal);
    await assert.rejects(files.write(`${target}/g`, 'x', 0o644, signal), { errno: 'EROFS' });
    await files.write(`${source}/g`, 'x', 0o644, signal);
    await mounter.bind(source, target, readWrite, signal);
    await files.write(`${target}/g`, 'y', 0o644, signal);
    assert.equal(text(await files.read(`${source}/g`, signal)), 'y');
    await mounter.unmount(target, signal);
  });

  test(`${name}: another source replaces the mount`, async (t) => {
    const { files, mounter, source, target, dir } = await withFolders(t);
    await files.ensureDirectory(`${dir}/other`, 0o755, signal);
    await mounter.bind(source, target, readWrite, signal);
    await mounter.bind(`${dir}/other`, target, readWrite, signal);
    assert.deepEqual(await files.list(target, signal), []);
    await mounter.unmount(target, signal);
    assert.deepEqual(await mounter.listBelow(dir, signal), []);
  });

  test(`${name}: a bind without source or target is PathMissing`, async (t) => {
    const { mounter, source, target, dir } = await withFolders(t);
    await assert.rejects(mounter.bind(`${dir}/none`, target, readWrite, signal), PathMissing);
    await assert.rejects(mounter.bind(source, `${dir}/none`, readWrite, signal), PathMissing);
  });

  test(`${name}: a tmpfs is made once, keeps its content, and takes it away`, async (t) => {
    const { files, mounter, target, dir } = await withFolders(t);
    await mounter.tmpfs(target, { sizeBytes: 1_048_576, mode: 0o1777 }, signal);
    await files.write(`${target}/f`, 'x', 0o644, signal);
    await mounter.tmpfs(target, { sizeBytes: 1_048_576, mode: 0o1777 }, signal);
    assert.equal(text(await files.read(`${target}/f`, signal)), 'x');
    assert.equal((await files.stat(target, signal))?.mode, 0o1777);
    assert.deepEqual(await mounter.listBelow(dir, signal), [{ target, source: 'tmpfs', fsType: 'tmpfs' }]);
    await mounter.unmount(target, signal);
    assert.deepEqual(await files.list(target, signal), []);
  });

  test(`${name}: huge pages are mounted once, and taken away`, async (t) => {
    const { mounter, target, dir } = await withFolders(t);
    for (let n = 0; n < 2; n += 1) await mounter.hugePages(target, { pageBytes: 2_097_152 }, signal);
    assert.deepEqual(await mounter.listBelow(dir, signal), [{ target, source: 'nodev', fsType: 'hugetlbfs' }]);
    await mounter.unmount(target, signal);
    assert.deepEqual(await mounter.listBelow(dir, signal), []);
  });

  test(`${name}: mounts below are listed deepest first, also through a link`, async (t) => {
    const { files, mounter, target, dir } = await withFolders(t);
    await mounter.tmpfs(target, { sizeBytes: 65_536, mode: 0o755 }, signal);
    await files.ensureDirectory(`${target}/a/b`, 0o755, signal);
    await mounter.tmpfs(`${target}/a/b`, { sizeBytes: 65_536, mode: 0o755 }, signal);
    await files.link('target', `${dir}/alias`, signal);
    const targets = async (root: string) => (await mounter.listBelow(root, signal)).map((mount) => mount.target);
    assert.deepEqual(await targets(dir), [`${target}/a/b`, target]);
    assert.deepEqual(await targets(`${dir}/alias/a`), [`${target}/a/b`]);
    await mounter.unmount(`${dir}/alias/a/b`, signal);
    await mounter.unmount(target, signal);
    assert.deepEqual(await targets(dir), []);
  });

  test(`${name}: a path below a root is bound, missing folders are made like the root, files stay files`, async (t) => {
    const { files, mounter, source, dir } = await withFolders(t);
    await files.changeMode(source, 0o770, signal);
    await files.ensureDirectory(`${dir}/sub`, 0o755, signal);
    await mounter.bindBelow(source, 'x/y', `${dir}/sub/0`, signal);
    await mounter.bindBelow(source, 'x/y', `${dir}/sub/0`, signal);
    await mounter.bindBelow(source, 'f', `${dir}/sub/1`, signal);
    assert.equal((await files.stat(`${source}/x/y`, signal))?.mode, 0o770);
    await files.write(`${dir}/sub/0/made`, 'm', 0o644, signal);
    assert.equal(text(await files.read(`${source}/x/y/made`, signal)), 'm');
    assert.equal(text(await files.read(`${dir}/sub/1`, signal)), 'content');
    for (const { target } of await mounter.listBelow(dir, signal)) await mounter.unmount(target, signal);
    assert.deepEqual(await mounter.listBelow(dir, signal), []);
  });

  test(`${name}: a path below a root may use links inside it and none that lead out`, async (t) => {
    const { files, mounter, source, dir } = await withFolders(t);
    await files.ensureDirectory(`${dir}/secret`, 0o700, signal);
    await files.ensureDirectory(`${dir}/sub`, 0o755, signal);
    await files.ensureDirectory(`${source}/real`, 0o755, signal);
    await files.link('real', `${source}/inside`, signal);
    await files.link('../secret', `${source}/outside`, signal);
    await files.link(`${dir}/secret`, `${source}/absolute`, signal);
    await mounter.bindBelow(source, 'inside', `${dir}/sub/0`, signal);
    for (const path of ['outside', 'absolute', '../secret', 'outside/made']) {
      await assert.rejects(mounter.bindBelow(source, path, `${dir}/sub/1`, signal), PathEscapes, path);
    }
    assert.deepEqual(await files.list(`${dir}/secret`, signal), []);
    assert.deepEqual(
      (await mounter.listBelow(dir, signal)).map((mount) => mount.target),
      [`${dir}/sub/0`],
    );
    await mounter.unmount(`${dir}/sub/0`, signal);
  });
}
