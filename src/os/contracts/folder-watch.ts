import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FilesPort } from '#kubelet/ports/files.ts';
import type { FolderWatchPort } from '#kubelet/ports/folder-watch.ts';
import { PathMissing } from '#kubelet/ports/host-errors.ts';

export interface FolderUnderTest {
  readonly files: FilesPort;
  readonly folderWatch: FolderWatchPort;
  /** An empty folder of this test alone. */
  readonly dir: string;
}

/** What everybody who implements `FolderWatchPort` must do. */
export function folderWatchContract(name: string, open: (t: { after(undo: () => Promise<void>): void }) => Promise<FolderUnderTest>): void {
  const { signal } = new AbortController();

  test(`${name}: a file that is written, renamed or removed in the folder is told of`, async (t) => {
    const { files, folderWatch, dir } = await open(t);
    const deeds = [
      () => files.write(`${dir}/a.yaml`, 'one', 0o644, signal),
      () => files.write(`${dir}/a.yaml`, 'two', 0o644, signal),
      () => files.rename(`${dir}/a.yaml`, `${dir}/b.yaml`, signal),
      () => files.removeTree(`${dir}/b.yaml`, signal),
    ];
    for (const deed of deeds) {
      await new Promise<void>((resolve, reject) => {
        const end = folderWatch.watch(dir, () => {
          end();
          resolve();
        });
        deed().catch(reject);
      });
    }
  });

  test(`${name}: a single file is watched too`, async (t) => {
    const { files, folderWatch, dir } = await open(t);
    await files.write(`${dir}/a.yaml`, 'one', 0o644, signal);
    await new Promise<void>((resolve, reject) => {
      const end = folderWatch.watch(`${dir}/a.yaml`, () => {
        end();
        resolve();
      });
      files.write(`${dir}/a.yaml`, 'two', 0o644, signal).catch(reject);
    });
  });

  test(`${name}: a path that is not there is refused`, async (t) => {
    const { folderWatch, dir } = await open(t);
    assert.throws(() => folderWatch.watch(`${dir}/nothing`, () => undefined), PathMissing);
  });

  test(`${name}: who has ended it is told nothing more`, async (t) => {
    const { files, folderWatch, dir } = await open(t);
    let told = 0;
    folderWatch.watch(dir, () => (told += 1))();
    await new Promise<void>((resolve, reject) => {
      const end = folderWatch.watch(dir, () => {
        end();
        resolve();
      });
      files.write(`${dir}/a.yaml`, 'one', 0o644, signal).catch(reject);
    });
    assert.equal(told, 0);
  });
}
