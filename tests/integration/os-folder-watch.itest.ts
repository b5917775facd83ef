import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderWatchContract } from '#os/contracts/folder-watch.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { linuxFolderWatch } from '#os/linux/folder-watch.ts';

folderWatchContract('linux', async (t) => {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'kubernode-os-')));
  t.after(() => rm(dir, { recursive: true }));
  return { files: createLinuxFiles(), folderWatch: linuxFolderWatch, dir };
});
