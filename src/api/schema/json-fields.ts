import { InvalidInput } from '#base/errors.ts';
import type { WrittenField } from './json-text.ts';

/**
 * Reads JSON for what a parser does not tell: which keys are written, in their order, and what exactly is wrong.
 *
 * @throws {InvalidInput} in the words of upstream's parser
 */
export function readJsonFields(text: string): readonly WrittenField[] {
  const reader = new Reader(text);
  reader.read();
  return reader.fields;
}

/** Upstream's limit of nesting is ten thousand; this reader recurses. */
const depthMax = 1000;

const literals = ['true', 'false', 'null'];

class Reader {
  readonly fields: WrittenField[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): void {
    this.#value('', 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
  }

  #value(path: string, depth: number): void {
    if (depth > depthMax) throw new InvalidInput({ message: 'exceeded max depth' });
    this.#skipSpace();
    const next = this.#peek();
    const word = literals.find((literal) => literal[0] === next);
    if (next === '{') this.#object(path, depth);
    else if (next === '[') this.#array(path, depth);
    else if (next === '"') this.#string();
    else if (word !== undefined) this.#literal(word);
    else this.#number();
  }

  #object(path: string, depth: number): void {
    const seen = new Set<string>();
    this.#at += 1;
    this.#skipSpace();
    if (this.#takes('}')) return;
    for (;;) {
      this.#skipSpace();
      if (this.#peek() !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = this.#string();
      const field = path === '' ? key : `${path}.${key}`;
      this.fields.push({ path: field, isDuplicate: seen.has(key) });
      seen.add(key);
      this.#skipSpace();
      if (!this.#takes(':')) throw this.#unexpected('after object key');
      this.#value(field, depth + 1);
      this.#skipSpace();
      if (this.#takes('}')) return;
      if (!this.#takes(',')) throw this.#unexpected('after object key:value pair');
    }
  }

  #array(path: string, depth: number): void {
    this.#at += 1;
    this.#skipSpace();
    if (this.#takes(']')) return;
    for (let index = 0; ; index++) {
      this.#value(`${path}[${index}]`, depth + 1);
      this.#skipSpace();
      if (this.#takes(']')) return;
      if (!this.#takes(',')) throw this.#unexpected('after array element');
    }
  }

  #string(): string {
    const from = this.#at;
    this.#at += 1;
    for (;;) {
      const next = this.#peek();
      if (next === '"') break;
      if (next === '\\') this.#escape();
      else if (next < ' ') throw this.#unexpected('in string literal');
      else this.#at += 1;
    }
    this.#at += 1;
    return JSON.parse(this.#text.slice(from, this.#at)) as string; // a string literal is a string
  }

  #escape(): void {
    this.#at += 1;
    const kind = this.#peek();
    if (!'"\\/bfnrtu'.includes(kind)) throw this.#unexpected('in string escape code');
    this.#at += 1;
    for (let left = kind === 'u' ? 4 : 0; left > 0; left--) {
      if (!/[0-9a-fA-F]/.test(this.#peek())) throw this.#unexpected('in \\u hexadecimal character escape');
      this.#at += 1;
    }
  }

  #literal(word: string): void {
    for (const [index, letter] of [...word].entries()) {
      if (this.#peek() !== letter) throw this.#unexpected(`in literal ${word} (expecting ${quoted(word[index] ?? '')})`);
      this.#at += 1;
    }
  }

  #number(): void {
    const isNegative = this.#takes('-');
    if (!this.#isDigit()) throw this.#unexpected(isNegative ? 'in numeric literal' : 'looking for beginning of value');
    if (!this.#takes('0')) this.#skipDigits();
    if (this.#takes('.')) this.#digits('after decimal point in numeric literal');
    if (this.#takes('e') || this.#takes('E')) {
      if (!this.#takes('+')) this.#takes('-');
      this.#digits('in exponent of numeric literal');
    }
  }

  #digits(where: string): void {
    if (!this.#isDigit()) throw this.#unexpected(where);
    this.#skipDigits();
  }

  #skipDigits(): void {
    while (this.#at < this.#text.length && this.#isDigit()) this.#at += 1;
  }

  #isDigit(): boolean {
    const next = this.#peek();
    return next >= '0' && next <= '9';
  }

  #skipSpace(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #peek(): string {
    const next = this.#text[this.#at];
    if (next === undefined) throw new InvalidInput({ message: 'unexpected end of JSON input' });
    return next;
  }

  #unexpected(where: string): InvalidInput {
    return new InvalidInput({ message: `invalid character ${quoted(this.#peek())} ${where}` });
  }
}

const escapes: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

/** As Go prints a byte: of a character of several bytes the first one. */
function quoted(character: string): string {
  const [byte = 0] = Buffer.from(character);
  const shown = byte < 0x80 ? character : String.fromCharCode(byte);
  if (escapes[shown] !== undefined) return `'${escapes[shown]}'`;
  return byte < 0x20 || byte === 0x7f ? `'\\x${byte.toString(16).padStart(2, '0')}'` : `'${shown}'`;
}
