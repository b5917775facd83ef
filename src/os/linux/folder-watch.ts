import { watch } from 'node:fs';
import type { FolderWatchPort } from '#kubelet/ports/folder-watch.ts';
import { hostCall } from './errno.ts';

/** inotify. */
export const linuxFolderWatch: FolderWatchPort = {
  watch(path, changed) {
    const watcher = hostCall(`watch ${path}`, () => watch(path, () => changed()));
    watcher.on('error', () => watcher.close()); // the path is gone
    return () => watcher.close();
  },
};
