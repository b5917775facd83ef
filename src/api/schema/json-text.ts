import { InvalidInput } from '#base/errors.ts';
import { readJsonFields } from './json-fields.ts';

/** One key of one object in a text. */
export interface WrittenField {
  /** `spec.containers[0].image` */
  readonly path: string;
  /** It stands there a second time. */
  readonly isDuplicate: boolean;
}

export interface ParsedText {
  readonly value: unknown;
  /** Every key as it is written, in order; empty when no object has a key twice. */
  readonly fields: readonly WrittenField[];
}

/** Deeper than any real object; what comes after may recurse. */
const depthMax = 500;

/** @throws {InvalidInput} in the words of upstream's parser */
export function parseJsonText(text: string): ParsedText {
  const value = parsed(text);
  // JSON.parse keeps the last of equal keys: then the text has more of them than the value.
  return { value, fields: countKeys(value, 0) === countWrittenKeys(text) ? [] : readJsonFields(text) };
}

/** @throws {InvalidInput} when values are nested too deep */
export function countKeys(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > depthMax) throw new InvalidInput({ message: 'exceeded max depth' });
  if (Array.isArray(value)) return value.reduce((sum: number, item: unknown) => sum + countKeys(item, depth + 1), 0);
  let count = 0;
  for (const item of Object.values(value)) count += 1 + countKeys(item, depth + 1);
  return count;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    readJsonFields(text); // says in upstream's words what is wrong
    throw new InvalidInput({ message: 'the text is not JSON', cause });
  }
}

const quoteCode = 0x22;
const colonCode = 0x3a;
const spaceCode = 0x20;
const backslashCode = 0x5c;

/** Strings that a colon follows. The text is known to be JSON, so that only quotes need a look. */
function countWrittenKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = endOfString(text, at + 1);
    while (text.charCodeAt(at) <= spaceCode) at += 1;
    if (text.charCodeAt(at) === colonCode) count += 1;
  }
  return count;
}

function endOfString(text: string, from: number): number {
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quoteCode) return at + 1;
    if (code === backslashCode) at += 1;
  }
}
