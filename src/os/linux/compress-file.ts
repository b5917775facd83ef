import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { reasonOf, throwIfAborted } from '#base/abort.ts';
import { hostCallAsync } from './errno.ts';

/** In pieces: logs of hundreds of megabytes are usual. What a crash leaves ends in `.tmp`. */
export async function compressFile(from: string, to: string, mode: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  const draft = `${to}.tmp`;
  await hostCallAsync(`compress ${from}`, async () => {
    await using source = await open(from);
    try {
      await using target = await open(draft, 'w', mode);
      await target.chmod(mode);
      await pipeline(source.createReadStream({ autoClose: false }), createGzip(), target.createWriteStream({ autoClose: false }), { signal });
      await rename(draft, to);
    } catch (error) {
      rmSync(draft, { force: true });
      throw signal.aborted ? reasonOf(signal) : error;
    }
  });
}
