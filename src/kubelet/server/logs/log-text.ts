import { AppError } from '#base/errors.ts';
import { fixedTimestamp, parseCriLogLine } from './cri-log-line.ts';
import type { LogOptions } from './log-options.ts';

/** The file's first line is not in CRI's format. */
export class UnsupportedLogFormat extends AppError {
  readonly code = 'UNSUPPORTED_LOG_FORMAT';
  readonly retry = 'never';
}

/** Turns the bytes of a log file into what the client gets. Keeps what is between two chunks. */
export class LogText {
  readonly #options: Pick<LogOptions, 'timestamps' | 'sinceMs'>;
  #rest: Uint8Array = new Uint8Array();
  #startsLine = true;
  #sawLine = false;
  #bytesLeft: number;
  #linesLeft: number;

  /** @param maxLines parsed lines after which nothing more comes */
  constructor(options: LogOptions, maxLines: number | undefined) {
    this.#options = options;
    this.#bytesLeft = options.limitBytes ?? Number.POSITIVE_INFINITY;
    this.#linesLeft = maxLines ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#bytesLeft <= 0 || this.#linesLeft <= 0;
  }

  /** @throws {UnsupportedLogFormat} on the very first line; later bad lines are left out */
  push(chunk: Uint8Array): Uint8Array {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0 && !this.isFull; end = bytes.indexOf(newline, from)) {
      this.#line(bytes.subarray(from, end), parts);
      from = end + 1;
    }
    this.#rest = bytes.subarray(from);
    return Buffer.concat(parts);
  }

  /** What the file ends with, without a newline behind it. */
  end(): Uint8Array {
    const parts: Uint8Array[] = [];
    if (this.#rest.length > 0 && !this.isFull) this.#line(this.#rest, parts);
    this.#rest = new Uint8Array();
    return Buffer.concat(parts);
  }

  #line(bytes: Uint8Array, parts: Uint8Array[]): void {
    const line = parseCriLogLine(bytes);
    if (line === undefined) {
      if (!this.#sawLine) throw new UnsupportedLogFormat({ message: `unsupported log format: ${JSON.stringify(Buffer.from(bytes).toString())}` });
      return;
    }
    this.#sawLine = true;
    if (this.#options.sinceMs !== undefined && Date.parse(line.timestamp) < this.#options.sinceMs) return;
    this.#linesLeft -= 1;
    if (this.#options.timestamps && this.#startsLine) this.#take(Buffer.from(`${fixedTimestamp(line.timestamp)} `), parts);
    this.#take(line.content, parts);
    if (!line.isPartial) this.#take(newlineBytes, parts);
    this.#startsLine = !line.isPartial;
  }

  #take(bytes: Uint8Array, parts: Uint8Array[]): void {
    if (this.#bytesLeft <= 0) return;
    parts.push(bytes.length > this.#bytesLeft ? bytes.subarray(0, this.#bytesLeft) : bytes);
    this.#bytesLeft -= bytes.length;
  }
}

const newline = 0x0a;
const newlineBytes = Buffer.from('\n');
