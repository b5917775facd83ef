/** One line of a log file as CRI runtimes write it: `<time> <stdout|stderr> <tags> <content>`. */
export interface CriLogLine {
  /** RFC 3339 with up to nine digits after the second, as written. */
  readonly timestamp: string;
  readonly stream: 'stdout' | 'stderr';
  /** The program's line goes on in the next one. */
  readonly isPartial: boolean;
  readonly content: Uint8Array;
}

/** @param line without its newline @returns undefined when it is not in the format */
export function parseCriLogLine(line: Uint8Array): CriLogLine | undefined {
  const afterTime = line.indexOf(space);
  const afterStream = afterTime < 0 ? -1 : line.indexOf(space, afterTime + 1);
  if (afterStream < 0) return undefined;
  const found = line.indexOf(space, afterStream + 1);
  const afterTags = found < 0 ? line.length : found; // a runtime may leave the space out before nothing
  const timestamp = ascii(line.subarray(0, afterTime));
  const stream = ascii(line.subarray(afterTime + 1, afterStream));
  const tags = ascii(line.subarray(afterStream + 1, afterTags)).split(':');
  if ((stream !== 'stdout' && stream !== 'stderr') || !timestampForm.test(timestamp)) return undefined;
  return { timestamp, stream, isPartial: tags[0] === 'P', content: line.subarray(Math.min(afterTags + 1, line.length)) };
}

/** The same time with exactly nine digits after the second. */
export function fixedTimestamp(timestamp: string): string {
  const parts = timestampForm.exec(timestamp);
  if (parts === null) return timestamp;
  const [, seconds = '', fraction = '', zone = ''] = parts;
  return `${seconds}.${fraction.padEnd(9, '0')}${zone === '+00:00' ? 'Z' : zone}`;
}

const space = 0x20;
const timestampForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

function ascii(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
