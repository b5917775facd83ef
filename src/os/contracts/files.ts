import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Cancelled } from '#base/errors.ts';
import type { FilesPort } from '#kubelet/ports/files.ts';
import { HostCallFailed, MountBelow, PathEscapes, PathMissing } from '#kubelet/ports/host-errors.ts';
import type { MounterPort } from '#kubelet/ports/mounter.ts';

export interface HostUnderTest {
  readonly files: FilesPort;
  readonly mounter: MounterPort;
  /** An empty folder of this test alone, without a slash at its end. */
  readonly dir: string;
}

/** What everybody who implements `FilesPort` must do. `open` gives a fresh folder and takes it away with the test. */
export function filesContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<HostUnderTest>): void {
  const { signal } = new AbortController();
  const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes));

  test(`${name}: a folder and its parents are made, with the mode asked for, also the second time`, async (t) => {
    const { files, dir } = await open(t);
    await files.ensureDirectory(`${dir}/a/b`, 0o750, signal);
    await files.ensureDirectory(`${dir}/a/b`, 0o777, signal);
    const facts = await files.stat(`${dir}/a/b`, signal);
    assert.deepEqual([facts?.kind, facts?.mode], ['directory', 0o777]);
  });

  test(`${name}: what is not there reads as undefined or as empty`, async (t) => {
    const { files, dir } = await open(t);
    const missing = `${dir}/no/such`;
    const answers = [
      await files.read(missing, signal),
      await files.stat(missing, signal),
      await files.readLink(missing, signal),
      await files.list(missing, signal),
    ];
    assert.deepEqual(answers, [undefined, undefined, undefined, []]);
    await files.removeTree(missing, signal);
  });

  test(`${name}: looking at a path ends when nobody waits any more`, async (t) => {
    const { files, dir } = await open(t);
    await assert.rejects(files.stat(dir, AbortSignal.abort()), Cancelled);
  });

  test(`${name}: a file is replaced as a whole, with its mode`, async (t) => {
    const { files, dir } = await open(t);
    await files.write(`${dir}/f`, 'a long first version', 0o644, signal);
    await files.write(`${dir}/f`, new Uint8Array([104, 105]), 0o666, signal);
    assert.equal(text(await files.read(`${dir}/f`, signal)), 'hi');
    const facts = await files.stat(`${dir}/f`, signal);
    assert.deepEqual([facts?.kind, facts?.mode, facts?.sizeBytes], ['file', 0o666, 2]);
    assert.deepEqual(await files.list(dir, signal), [{ name: 'f', kind: 'file' }]);
  });

  test(`${name}: of a long file the end can be read alone`, async (t) => {
    const { files, dir } = await open(t);
    await files.write(`${dir}/f`, 'first last', 0o600, signal);
    assert.equal(text(await files.readEnd(`${dir}/f`, 4, signal)), 'last');
    assert.equal(text(await files.readEnd(`${dir}/f`, 100, signal)), 'first last');
    assert.equal(await files.readEnd(`${dir}/none`, 4, signal), undefined);
  });

  test(`${name}: a file in a folder that is not there is PathMissing, and nothing is left`, async (t) => {
    const { files, dir } = await open(t);
    await assert.rejects(files.write(`${dir}/no/f`, 'x', 0o644, signal), PathMissing);
    assert.deepEqual(await files.list(dir, signal), []);
  });

  test(`${name}: a file is compressed whole, and one that is not there is PathMissing and leaves nothing`, async (t) => {
    const { files, dir } = await open(t);
    const content = 'line after line\n'.repeat(20_000);
    await files.write(`${dir}/f`, content, 0o640, signal);
    await files.compress(`${dir}/f`, `${dir}/f.gz`, 0o640, signal);
    assert.equal(gunzipSync((await files.read(`${dir}/f.gz`, signal)) ?? new Uint8Array()).toString(), content);
    assert.equal((await files.stat(`${dir}/f.gz`, signal))?.mode, 0o640);
    await assert.rejects(files.compress(`${dir}/none`, `${dir}/none.gz`, 0o640, signal), PathMissing);
    await assert.rejects(files.compress(`${dir}/f`, `${dir}/late.gz`, 0o640, AbortSignal.abort()), Cancelled);
    assert.deepEqual(new Set((await files.list(dir, signal)).map((entry) => entry.name)), new Set(['f', 'f.gz']));
  });

  test(`${name}: a link is replaced, followed by read and not by stat`, async (t) => {
    const { files, dir } = await open(t);
    await files.ensureDirectory(`${dir}/v1`, 0o755, signal);
    await files.ensureDirectory(`${dir}/v2`, 0o755, signal);
    await files.write(`${dir}/v2/key`, 'two', 0o644, signal);
    await files.link('v1', `${dir}/..data`, signal);
    await files.link('v2', `${dir}/..data`, signal);
    assert.equal(await files.readLink(`${dir}/..data`, signal), 'v2');
    assert.equal((await files.stat(`${dir}/..data`, signal))?.kind, 'symlink');
    assert.equal(text(await files.read(`${dir}/..data/key`, signal)), 'two');
    assert.equal(await files.readLink(`${dir}/v1`, signal), undefined);
  });

  test(`${name}: reading a folder as a file fails loudly`, async (t) => {
    const { files, dir } = await open(t);
    await assert.rejects(files.read(dir, signal), (error) => error instanceof HostCallFailed && error.errno === 'EISDIR');
  });

  test(`${name}: rename moves over what is there`, async (t) => {
    const { files, dir } = await open(t);
    await files.write(`${dir}/from`, 'new', 0o600, signal);
    await files.write(`${dir}/to`, 'old', 0o644, signal);
    await files.rename(`${dir}/from`, `${dir}/to`, signal);
    assert.equal(text(await files.read(`${dir}/to`, signal)), 'new');
    assert.deepEqual(
      (await files.list(dir, signal)).map((entry) => entry.name),
      ['to'],
    );
    await assert.rejects(files.rename(`${dir}/from`, `${dir}/x`, signal), PathMissing);
  });

  test(`${name}: a file of a folder is read through links inside it, never through one that leads out`, async (t) => {
    const { files, dir } = await open(t);
    await files.ensureDirectory(`${dir}/root/sub`, 0o755, signal);
    await files.write(`${dir}/root/sub/f`, 'inside', 0o644, signal);
    await files.write(`${dir}/secret`, 'outside', 0o600, signal);
    await files.link('sub', `${dir}/root/link`, signal);
    await files.link('../secret', `${dir}/root/out`, signal);
    assert.equal(text(await files.readBelow(`${dir}/root`, 'link/f', signal)), 'inside');
    assert.deepEqual(
      [await files.readBelow(`${dir}/root`, 'none', signal), await files.readBelow(`${dir}/root`, 'sub', signal)],
      [undefined, undefined],
    );
    for (const path of ['out', '../secret']) await assert.rejects(files.readBelow(`${dir}/root`, path, signal), PathEscapes, path);
  });

  test(`${name}: owner -1 stays as it is, and a link is changed itself`, async (t) => {
    const { files, dir } = await open(t);
    await files.write(`${dir}/f`, '', 0o644, signal);
    await files.link('f', `${dir}/l`, signal);
    await files.changeOwner(`${dir}/f`, 7, 8, signal);
    await files.changeOwner(`${dir}/f`, -1, 9, signal);
    await files.changeOwner(`${dir}/l`, 1, 2, signal);
    await files.changeMode(`${dir}/f`, 0o2640, signal);
    const [file, link] = [await files.stat(`${dir}/f`, signal), await files.stat(`${dir}/l`, signal)];
    assert.deepEqual([file?.uid, file?.gid, file?.mode, link?.uid, link?.gid], [7, 9, 0o2640, 1, 2]);
  });

  test(`${name}: a removed tree takes no file behind a link with it`, async (t) => {
    const { files, dir } = await open(t);
    await files.ensureDirectory(`${dir}/keep`, 0o755, signal);
    await files.write(`${dir}/keep/f`, 'x', 0o644, signal);
    await files.ensureDirectory(`${dir}/gone/deep`, 0o000, signal);
    await files.link(`${dir}/keep`, `${dir}/gone/link`, signal);
    await files.removeTree(`${dir}/gone`, signal);
    await files.removeTree(`${dir}/gone`, signal);
    assert.deepEqual(
      (await files.list(dir, signal)).map((entry) => entry.name),
      ['keep'],
    );
    assert.equal(text(await files.read(`${dir}/keep/f`, signal)), 'x');
  });

  test(`${name}: a tree with a mount in it is left alone, also when reached through a link`, async (t) => {
    const { files, mounter, dir } = await open(t);
    await files.ensureDirectory(`${dir}/real/tree/mnt`, 0o755, signal);
    await files.write(`${dir}/real/tree/f`, 'x', 0o644, signal);
    await files.link('real', `${dir}/alias`, signal);
    await mounter.tmpfs(`${dir}/real/tree/mnt`, { sizeBytes: 65_536, mode: 0o777 }, signal);
    await assert.rejects(files.removeTree(`${dir}/alias/tree`, signal), MountBelow);
    assert.equal(text(await files.read(`${dir}/real/tree/f`, signal)), 'x');
    await mounter.unmount(`${dir}/real/tree/mnt`, signal);
    await files.removeTree(`${dir}/alias/tree`, signal);
    assert.equal(await files.stat(`${dir}/real/tree`, signal), undefined);
  });
}
