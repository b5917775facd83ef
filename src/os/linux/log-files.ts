import { type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { LogFile, LogFilesPort } from '#kubelet/ports/log-files.ts';

export const linuxLogFiles: LogFilesPort = {
  async open(path) {
    let handle: FileHandle;
    try {
      handle = await open(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const { dev, ino } = await handle.stat({ bigint: true });
    return openFile(handle, `${dev}:${ino}`);
  },
  watch(path, listener) {
    const name = basename(path);
    let watcher: FSWatcher;
    try {
      // The directory, not the file: a file that takes the name later is seen too.
      watcher = watch(dirname(path), { persistent: false }, (event, changed) => {
        if (changed === name) listener(event === 'change' ? 'written' : 'replaced');
      });
    } catch {
      return () => undefined; // no directory, or no inotify watches left: the reader's own slow look is the net
    }
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  },
};

function openFile(handle: FileHandle, identity: string): LogFile {
  return {
    identity,
    sizeBytes: async () => (await handle.stat()).size,
    async read(offsetBytes, maxBytes) {
      const buffer = Buffer.allocUnsafe(maxBytes);
      const { bytesRead } = await handle.read(buffer, 0, maxBytes, offsetBytes);
      return buffer.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}
