import type { StatusObject } from '#api/status.ts';
import { watchExpired } from '#api/status.ts';
import { onAbort } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { Change, SeenChange, WatchFormat } from './change.ts';
import type { IndexedObject } from './indexed-object.ts';
import { candidates, type ObjectFilter, passes } from './object-filter.ts';
import type { ObjectIndex } from './object-index.ts';

export interface StreamFormat extends WatchFormat {
  /** @param endsInitialEvents the bookmark that says so */
  encodeBookmark(revision: number, endsInitialEvents: boolean): Uint8Array;
  encodeError(status: StatusObject): Uint8Array;
}

export interface WatchStreamOptions {
  readonly index: ObjectIndex;
  readonly filter: ObjectFilter;
  readonly format: StreamFormat;
  /** Changes after this revision; undefined: the present objects first. */
  readonly after: number | undefined;
  /** Whether a bookmark tells the end of the present objects. */
  readonly marksInitialEnd: boolean;
  readonly sendsBookmarks: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** The revision that all indexes have reached. */
  revision(): number;
}

const bookmarkEveryMs = 60_000;
/** So that the client's next watch begins where this one ends. */
const lastBookmarkBeforeEndMs = 2_000;
/** A watcher this far behind is cut off; its client goes on from the last revision that it saw. */
const maxQueuedBytes = 32 * 1024 * 1024;
const maxChunkBytes = 256 * 1024;

/** The bytes of a watch, from now on and until its time is over, its client is too slow, or the signal is aborted. */
export async function* watchStream(options: WatchStreamOptions, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const { index, filter, format, after } = options;
  const past = after === undefined ? [] : index.history.since(after);
  if (past === undefined) {
    yield format.encodeError(watchExpired(after ?? 0, index.history.floor).status);
    return;
  }
  // From here to the subscription nothing is awaited: no change falls in between.
  const present = after === undefined ? candidates(index, filter) : [];
  const revision = options.revision();
  const queue = new LineQueue();
  const show = (change: Change) => {
    if (after !== undefined && change.revision <= after) return; // it asked for what is yet to come
    const seen = change.seenThrough(filter);
    if (seen !== undefined) queue.push(change.line(format, seen));
  };
  const unsubscribe = index.subscribe(show, () => queue.end());
  const timers = startTimers(options, queue);
  const forget = onAbort(signal, () => queue.end());
  try {
    yield* inChunks(seenAtFirst(present, past, filter), format);
    if (after === undefined && options.marksInitialEnd) yield format.encodeBookmark(revision, true);
    yield* queue.chunks();
  } finally {
    forget();
    unsubscribe();
    for (const timer of timers) timer.cancel();
  }
}

function* seenAtFirst(present: readonly IndexedObject[], past: readonly Change[], filter: ObjectFilter): Generator<SeenChange, void, void> {
  for (const object of present) if (passes(filter, object.key, object.facts)) yield { type: 'ADDED', object };
  for (const change of past) {
    const seen = change.seenThrough(filter);
    if (seen !== undefined) yield seen;
  }
}

/** Made as the client takes them: what is already known has no limit, however much it is. */
function* inChunks(seen: Iterable<SeenChange>, format: StreamFormat): Generator<Uint8Array, void, void> {
  let lines: Uint8Array[] = [];
  let bytes = 0;
  for (const { type, object } of seen) {
    const line = format.encode(type, object);
    lines.push(line);
    bytes += line.byteLength;
    if (bytes <= maxChunkBytes) continue;
    yield Buffer.concat(lines, bytes);
    lines = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(lines, bytes);
}

function startTimers(options: WatchStreamOptions, queue: LineQueue): { cancel(): void }[] {
  const { clock, timeoutMs } = options;
  const end = clock.after(timeoutMs, () => queue.end());
  if (!options.sendsBookmarks) return [end];
  const endAtMs = clock.monotonic() + timeoutMs;
  const wait = () => {
    const leftMs = endAtMs - clock.monotonic() - lastBookmarkBeforeEndMs;
    return leftMs > 0 ? Math.min(bookmarkEveryMs, leftMs) : bookmarkEveryMs;
  };
  let next = clock.after(wait(), function again() {
    const revision = options.revision();
    // A bookmark says that all up to its revision was sent: what the queue holds goes out first. A watch of the future has seen nothing yet.
    if (revision >= (options.after ?? 0)) queue.push(options.format.encodeBookmark(revision, false));
    next = clock.after(wait(), again);
  });
  return [end, { cancel: () => next.cancel() }];
}

/** Lines for one watcher; the bytes are shared with the others. */
class LineQueue {
  #lines: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  push(line: Uint8Array): void {
    if (this.#isEnded) return;
    this.#lines.push(line);
    this.#bytes += line.byteLength;
    if (this.#bytes > maxQueuedBytes) {
      this.#lines = [];
      this.end();
    } else this.#wake?.();
  }

  /** What is queued is still delivered. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** All lines in one piece. */
  take(): Uint8Array {
    const [first, ...more] = this.#lines;
    const bytes = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#lines, this.#bytes);
    this.#lines = [];
    this.#bytes = 0;
    return bytes;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      if (this.#lines.length > 0) yield this.take();
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
