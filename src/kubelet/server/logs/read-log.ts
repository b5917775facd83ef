import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { LogFile, LogFilesPort } from '../../ports/log-files.ts';
import type { LogOptions } from './log-options.ts';
import { LogText } from './log-text.ts';

/** What a reader that follows needs to know of the container: the file itself never says that it is complete. */
export interface ContainerLife {
  isRunning(signal: AbortSignal): Promise<boolean>;
  /** Calls the listener when `isRunning` may have changed; the answer unsubscribes. */
  subscribe(listener: () => void): () => void;
}

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
  const wake = options.follow ? watchLog(path, files, life, clock, signal) : undefined;
  let open = file;
  try {
    let offset = options.tailLines === undefined ? 0 : await startOfTail(open, options.tailLines);
    // Whether the container runs is asked before the last read: what it wrote with its last breath is in the file by then.
    let isLastRead = false;
    for (;;) {
      if (text.isFull || signal.aborted) return;
      const chunk = await open.read(offset, chunkBytes);
      if (chunk.length > 0) {
        offset += chunk.length;
        const out = text.push(chunk);
        if (out.length > 0) yield out;
        continue;
      }
      if (wake === undefined || isLastRead) break;
      const news = await wake.next();
      const next = news.has('replaced') ? await files.open(path, signal) : undefined;
      if (next !== undefined && next.identity !== open.identity) {
        yield* restOf(open, offset, text); // the runtime wrote here until it opened the new one
        await open.close();
        open = next;
        offset = 0;
        continue;
      }
      await next?.close();
      if (news.has('life')) isLastRead = !(await life.isRunning(signal));
    }
    const last = text.end();
    if (last.length > 0) yield last;
  } finally {
    wake?.close();
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
/** Upstream looks again this often whatever the file system says. */
const lookAgainMs = 1_000;

type News = 'written' | 'replaced' | 'life';

async function* restOf(file: LogFile, from: number, text: LogText): AsyncGenerator<Uint8Array, void, void> {
  let offset = from;
  for (let chunk = await file.read(offset, chunkBytes); chunk.length > 0; chunk = await file.read(offset, chunkBytes)) {
    offset += chunk.length;
    yield text.push(chunk);
  }
}

function watchLog(
  path: string,
  files: LogFilesPort,
  life: ContainerLife,
  clock: Clock,
  signal: AbortSignal,
): { next(): Promise<ReadonlySet<News>>; close(): void } {
  let news = new Set<News>(['life']); // it may have ended before the watch began
  let wake: (() => void) | undefined;
  const tell = (what: News): void => {
    news.add(what);
    wake?.();
  };
  const unwatch = files.watch(path, tell);
  const unsubscribe = life.subscribe(() => tell('life'));
  const forget = onAbort(signal, () => wake?.());
  return {
    async next() {
      const look = clock.after(lookAgainMs, () => {
        news.add('replaced');
        tell('life');
      });
      if (news.size === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      look.cancel();
      const told = news;
      news = new Set();
      return told;
    },
    close() {
      unwatch();
      unsubscribe();
      forget();
    },
  };
}
