import { InvalidInput } from '#base/errors.ts';

/** Keys are compared as UTF-8 bytes, which is the order of their code points, not of JavaScript's UTF-16 units. */
export function compareKeys(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The smallest string above every key with this prefix; `undefined`: there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    if (point === 0x10ffff) continue;
    // surrogates are no characters of their own
    return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}

/** @throws {InvalidInput} when a medium could not keep the key as it is: empty, half a surrogate pair, a zero byte */
export function checkKey(key: string): void {
  if (key === '' || /[\0\p{Surrogate}]/u.test(key)) throw new InvalidInput({ message: `${JSON.stringify(key)} is no key for the store` });
}
