import { once } from 'node:events';
import { chmodSync, createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { reasonOf, throwIfAborted } from '#base/abort.ts';
import { hostCallAsync } from './errno.ts';

/** In pieces: logs of hundreds of megabytes are usual. What a crash leaves ends in `.tmp`. */
export async function compressFile(from: string, to: string, mode: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  const draft = `${to}.tmp`;
  await hostCallAsync(`compress ${from}`, async () => {
    const source = createReadStream(from);
    await once(source, 'open');
    const target = createWriteStream(draft, { mode });
    try {
      await pipeline(source, createGzip(), target, { signal });
      chmodSync(draft, mode); // open's mode went through the umask
      renameSync(draft, to);
    } catch (error) {
      if (!target.closed) await once(target, 'close'); // it may not have been opened yet: then the file came after its removal
      rmSync(draft, { force: true });
      throw signal.aborted ? reasonOf(signal) : error;
    }
  });
}
