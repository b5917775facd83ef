import type { Clock } from '#base/clock.ts';
import type { LogFile, LogFilesPort } from '../../ports/log-files.ts';
import { type ContainerLife, LogFollower } from './log-follower.ts';
import type { LogOptions } from './log-options.ts';
import { LogText } from './log-text.ts';

/**
 * The log in `file`, ready for the client. With `follow` it goes on with what is written, through rotations of `path`, until the container
 * is no longer running and everything is read. Closes the file.
 */
export async function* readLog(
  file: LogFile,
  path: string,
  files: LogFilesPort,
  options: LogOptions,
  life: ContainerLife,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const text = new LogText(options, options.follow ? undefined : options.tailLines);
  const follower = options.follow ? new LogFollower(file, path, files, life, clock, signal) : undefined;
  let open = file;
  try {
    let offset = options.tailLines === undefined ? 0 : await startOfTail(open, options.tailLines);
    // Whether the container runs is asked before the last read: what it wrote with its last breath is in the file by then.
    let isLastRead = false;
    let isQuiet = false;
    for (;;) {
      if (text.isFull || signal.aborted) return;
      const chunk = await open.read(offset, chunkBytes);
      if (chunk.length > 0) {
        offset += chunk.length;
        isQuiet = false;
        const out = text.push(chunk);
        if (out.length > 0) yield out;
      } else if (follower?.hasNext === true && !isQuiet) {
        await clock.sleep(quietMs, signal).catch(() => undefined); // the loop's first line sees the abort
        isQuiet = true;
      } else if (follower?.hasNext === true) {
        const last = text.end(); // whatever it is, it is no part of the next file's first line
        if (last.length > 0) yield last;
        await open.close();
        open = follower.takeNext() ?? open;
        offset = 0;
        isQuiet = false;
      } else if (follower === undefined || isLastRead) {
        break;
      } else if ((await follower.news()).has('life')) {
        isLastRead = !(await life.isRunning(signal));
        if (isLastRead) await follower.look();
      }
    }
    const last = text.end();
    if (last.length > 0) yield last;
  } finally {
    await follower?.close();
    await open.close();
  }
}

/** Where the last `lines` lines begin. A last line without a newline counts. */
export async function startOfTail(file: LogFile, lines: number): Promise<number> {
  const size = await file.sizeBytes();
  if (lines === 0) return size;
  let missing = lines;
  let isLastByte = true;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const block = await file.read(start, end - start);
    for (let at = block.length - 1; at >= 0; at -= 1) {
      // The newline that ends the file ends the last line; any other one is before a line.
      if (block[at] === newline && !isLastByte && --missing === 0) return start + at + 1;
      isLastByte = false;
    }
    end = start;
  }
  return 0;
}

const newline = 0x0a;
const chunkBytes = 64 * 1024;
/** The runtime hands its output over to a new file by and by: so long the old one must have been quiet. */
const quietMs = 100;
